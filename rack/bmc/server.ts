import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { ManagedMachine } from '../machine/machine.ts';
import type { MachineRecord } from '../record.ts';
import { Account } from './account.ts';
import { accountRoutes, passwordChangeRequired } from './accountRoutes.ts';
import { isAuthenticated, isOpen, isOpenBeforeChange } from './authentication.ts';
import { chassisAndManagerRoutes } from './chassisAndManager.ts';
import { type RedfishAnswer, RedfishError, redfishError } from './errors.ts';
import { EventHub } from './eventHub.ts';
import { EventLog } from './eventLog.ts';
import { eventRoutes } from './eventRoutes.ts';
import type { FaultSwitches } from './faultSwitches.ts';
import { hardwareRoutes } from './hardware.ts';
import { logRoutes } from './logRoutes.ts';
import { resourcePath } from './paths.ts';
import { serviceRootRoutes } from './serviceRoot.ts';
import { sessionRoutes } from './sessionRoutes.ts';
import { Sessions } from './sessions.ts';
import { spoil } from './spoil.ts';
import { systemRoutes } from './system.ts';
import { virtualMediaRoutes } from './virtualMedia.ts';

/** What the routes of a BMC work on. */
export interface BmcParts {
  machine: ManagedMachine;
  record: MachineRecord;
  faults: FaultSwitches;
  sessions: Sessions;
  account: Account;
  eventLog: EventLog;
  events: EventHub;
}

/** What is left out is the BMC's own; the account is the one of `record`, with its factory password if that is a fault of the BMC. */
export interface BmcOptions extends Omit<BmcParts, 'sessions' | 'account' | 'eventLog' | 'events'> {
  sessions?: Sessions;
  account?: Account;
  eventLog?: EventLog;
  events?: EventHub;
  /** PEM. */
  tls: { key: string; cert: string };
  log: Log;
}

/** Starts a machine's BMC on port 443 of its address in the management namespace. */
export async function openBmc({ tls, ...options }: BmcOptions): Promise<Closable> {
  const app = bmcApplication(options, tls);
  await app.listen({ host: options.record.bmc.host, port: 443 });
  return app;
}

/** The Redfish service, not yet listening; without `tls` it speaks plain HTTP, for tests. */
export function bmcApplication(options: Omit<BmcOptions, 'tls'>, tls?: BmcOptions['tls']): FastifyInstance {
  const app: FastifyInstance = Fastify({
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
    ...(tls === undefined ? {} : { serverFactory: overTls(tls) }),
  });
  const { record, eventLog = new EventLog() } = options;
  const events = options.events ?? new EventHub(options.machine, eventLog, options.log);
  const account = new Account(record.bmc, record.faults.includes('factory-password'));
  const parts: BmcParts = { sessions: new Sessions(), account, ...options, eventLog, events };
  spoil(app, parts.faults);
  guard(app, parts);
  answers(app, options.log);
  acceptEmptyJson(app);
  serviceRootRoutes(app, parts);
  accountRoutes(app, parts);
  sessionRoutes(app, parts);
  systemRoutes(app, parts);
  chassisAndManagerRoutes(app, parts);
  hardwareRoutes(app, parts);
  virtualMediaRoutes(app, parts);
  logRoutes(app, parts);
  eventRoutes(app, parts);
  return app;
}

/** Fastify's type for a server is plain HTTP's; an HTTPS server serves the same requests. */
function overTls(tls: BmcOptions['tls']): (handler: RequestListener) => Server {
  return (handler) => createServer(tls, handler) as unknown as Server;
}

function guard(app: FastifyInstance, { account, sessions }: BmcParts): void {
  app.addHook('onRequest', async ({ method, url, headers }, reply) => {
    const path = resourcePath(url);
    if (isOpen(method, path)) return;
    if (isAuthenticated(headers, account, sessions)) {
      if (account.changeRequired && !isOpenBeforeChange(method, path)) throw passwordChangeRequired();
      return;
    }
    reply.header('www-authenticate', 'Basic realm="Redfish"');
    return send(reply, redfishError(401, 'NoValidSession'));
  });
}

function answers(app: FastifyInstance, log: Log): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('odata-version', '4.0');
  });
  app.addHook('onResponse', async ({ method, url }, { statusCode }) => {
    log.info({ method, url, statusCode }, 'redfish');
  });
  app.setNotFoundHandler(({ url }, reply) =>
    send(reply, redfishError(404, 'ResourceMissingAtURI', { args: [url] })),
  );
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof RedfishError) return send(reply, error.answer);
    if (error.statusCode !== undefined && error.statusCode < 500) {
      return send(reply, redfishError(error.statusCode, 'MalformedJSON'));
    }
    log.error({ err: error }, 'redfish request failed');
    return send(reply, redfishError(500, 'InternalError'));
  });
}

/** Clients send an action without parameters with a JSON content type and no body. */
function acceptEmptyJson(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body as string));
    } catch (error) {
      done(Object.assign(error as Error, { statusCode: 400 }));
    }
  });
}

function send(reply: FastifyReply, { status, body, headers = {} }: RedfishAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
