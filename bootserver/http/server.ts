import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { toWireError } from '#contract/errors.ts';
import { clientKey } from '#doors/clientKey.ts';
import { limitConnections } from '#doors/connections.ts';
import { httpLimits, refusalCost } from '#doors/limits.ts';
import { type Rate, RateLimiter } from '#doors/rateLimiter.ts';
import { rateLimited, refuseUnreadable } from '#doors/refusal.ts';
import { type Answer, errorAnswer, notFound } from './answer.ts';
import { type BootRequest, readRequest } from './request.ts';
import { type Route, routeOf } from './route.ts';
import { type SendLimits, send } from './send.ts';
import { Transfers } from './transfers.ts';
import { inTurn } from './turns.ts';

export interface BootHttpOptions {
  address: string;
  port: number;
  /** Given the listener's own URL. In order; the first that matches counts. What no route answers is not found. */
  routes(url: string): readonly Route[];
  /** With it the listener speaks TLS. */
  tls?: ServerCertificate;
  log: Log;
  /** Others than `defaultLimits` are for tests. */
  limits?: Partial<BootHttpLimits>;
}

/** Certificate and key, PEM. */
export interface ServerCertificate {
  certificate: string;
  key: string;
}

export interface BootHttpLimits {
  connectionsPerClient: number;
  /** Images that are sent at a time: each holds two buffers of 256 KiB while its client reads. */
  transfers: number;
  stallMs: number;
  /** Scripts and refusals of one client; downloads are bounded by the above. */
  rate: Rate;
  /** Milliseconds for a request's headers. */
  headersMs: number;
}

export interface BootHttp extends Closable {
  /** `http://<address>:<port>`, or `https://…` */
  readonly url: string;
}

/** A client that stalls costs at most its few connections for a minute (Node cuts off within two `stallMs`), all of them together 48 MiB. */
const defaultLimits: BootHttpLimits = {
  connectionsPerClient: 16,
  transfers: 96,
  stallMs: 30_000,
  // A machine asks for its script once per boot.
  rate: { perSecond: 20, burst: 500 },
  headersMs: httpLimits.headersTimeout,
};
/** Of all clients together: what a site's file descriptors bear. */
const maxConnections = 1024;

/** Firmware waits between HEAD and GET; a connection closed meanwhile ends its boot (edk2 issue 9920). */
const keepAliveMs = 60_000;

/** The boot listener: GET and HEAD, no redirects, no chunks, connections kept. @throws Error with a system `code` when it cannot bind */
export async function startBootHttp(options: BootHttpOptions): Promise<BootHttp> {
  const { log } = options;
  const { connectionsPerClient, transfers, stallMs, rate, headersMs } = {
    ...defaultLimits,
    ...options.limits,
  };
  const headersTimeout = headersMs;
  const settings = { ...httpLimits, headersTimeout, keepAliveTimeout: keepAliveMs, noDelay: true };
  const { tls } = options;
  const server =
    tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...firmwareTls(tls) });
  server.on('clientError', refuseUnreadable);
  limitConnections(server, { perClient: connectionsPerClient, total: maxConnections }, log);
  server.listen(options.port, options.address);
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  const host = isIPv6(address) ? `[${address}]` : address;
  const url = `${tls === undefined ? 'http' : 'https'}://${host}:${port}`;
  const routes = options.routes(url);
  const serving = {
    routes,
    limits: { transfers: new Transfers(transfers), stallMs },
    rate: new RateLimiter(rate),
    log,
  };
  server.on(
    'request',
    inTurn((message, response) => serve(message, response, serving)),
  );
  return { url, close: () => closed(server) };
}

/**
 * Firmware speaks TLS 1.2 and no newer (edk2 before 2023), some of it without elliptic curves: so the older key exchanges are offered
 * here, where nothing secret is served.
 */
function firmwareTls({ certificate, key }: ServerCertificate) {
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2',
    dhparam: 'auto',
    handshakeTimeout: 10_000,
  } as const;
}

interface Serving {
  routes: readonly Route[];
  limits: SendLimits;
  rate: RateLimiter;
  log: Log;
}

async function serve(message: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const { limits, log } = serving;
  const request = readRequest(message);
  try {
    const answer = await boundedAnswer(request, clientKey(message.socket.remoteAddress), serving);
    try {
      await send(answer, request?.method ?? 'GET', response, limits);
    } finally {
      await answer.release?.();
    }
    log.debug({ from: request?.from, path: request?.path, status: answer.status }, 'boot HTTP');
  } catch (error) {
    failed(error, request, response, serving);
  }
}

/** The answer, unless its client has asked too often; a refusal costs more than an answer. */
async function boundedAnswer(
  request: BootRequest | undefined,
  client: string,
  { routes, rate }: Serving,
): Promise<Answer> {
  const row = request && routeOf(routes, request.path);
  const wait = rate.take(client, row?.isDownload ? 0 : 1);
  if (wait > 0) return tooMany(wait);
  const answer = await answerTo(request, row);
  if (refusals.includes(answer.status)) rate.charge(client, refusalCost);
  return answer;
}

/** What well-behaved firmware does not meet: no such thing, and no such request. */
const refusals = [400, 404];

async function answerTo(request: BootRequest | undefined, row: Route | undefined): Promise<Answer> {
  if (request === undefined)
    return errorAnswer({ code: 'INVALID_INPUT', message: 'only GET and HEAD of a path are served here' });
  return (await row?.answer(request)) ?? notFound(request.path);
}

function tooMany(waitSeconds: number): Answer {
  const error = rateLimited(waitSeconds, 'address');
  return errorAnswer(toWireError(error), { 'retry-after': String(error.details.retryAfterSeconds) });
}

/** A client that went away or stalled is no failure of ours; anything else is answered if nothing was sent, else the connection is cut. */
function failed(
  error: unknown,
  request: BootRequest | undefined,
  response: ServerResponse,
  { limits, log }: Serving,
): void {
  const asked = { from: request?.from, path: request?.path };
  if (response.destroyed) {
    log.debug({ err: response.errored ?? error, ...asked }, 'boot HTTP: the client left');
    return;
  }
  log.error({ err: error, ...asked }, 'boot HTTP request failed');
  if (response.headersSent) response.destroy();
  else void send(errorAnswer(toWireError(error)), request?.method ?? 'GET', response, limits);
}

async function closed(server: Server | TlsServer): Promise<void> {
  const done = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await done;
}
