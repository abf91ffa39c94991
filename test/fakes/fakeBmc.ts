import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { asObject, asText, type Json, type JsonObject } from '#redfish/json.ts';
import type { ServerIdentity } from './certificates.ts';

export interface BmcRequest {
  method: string;
  path: string;
  headers: Record<string, string | undefined>;
  body: JsonObject;
}

export interface BmcAnswer {
  status: number;
  headers?: Record<string, string>;
  /** A string is sent as it is. */
  body?: Json;
  /** How long the BMC takes, in milliseconds. */
  delayMs?: number;
}

/** A fault: answers in the BMC's place, or lets it answer. `'hang up'` breaks the connection. */
export type Fault = (request: BmcRequest, bmc: FakeBmc) => BmcAnswer | 'hang up' | undefined;

export const user = { username: 'admin', password: 'pa55word-of-the-BMC' };
const basic = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`;
const sessionsPath = '/redfish/v1/SessionService/Sessions';

/** A small BMC over HTTPS that keeps its state and has faults that a test switches on. */
export class FakeBmc {
  /** Every resource by its path; a test may change it at any time. */
  readonly tree: Record<string, JsonObject> = {};
  readonly systemPath: string;
  readonly requests: BmcRequest[] = [];
  readonly sessions = new Set<string>();
  readonly faults: Fault[] = [];
  sessionLimit = 8;
  mostSessions = 0;
  #sessionCount = 0;

  constructor(system: JsonObject) {
    this.systemPath = asText(system['@odata.id'])?.replace(/\/$/, '') ?? '';
    this.tree['/redfish/v1'] = {
      Systems: { '@odata.id': '/redfish/v1/Systems' },
      Links: { Sessions: { '@odata.id': sessionsPath } },
    };
    this.tree['/redfish/v1/Systems'] = { Members: [{ '@odata.id': this.systemPath }] };
    this.tree[this.systemPath] = structuredClone(system);
  }

  get system(): JsonObject {
    return this.tree[this.systemPath] ?? {};
  }

  get boot(): JsonObject {
    return asObject(this.system.Boot);
  }

  /** What was sent by one method, bodies only. */
  sent(method: string, ending = ''): JsonObject[] {
    const matching = this.requests.filter((one) => one.method === method && one.path.endsWith(ending));
    return matching.map((one) => one.body);
  }

  resets(): unknown[] {
    return this.sent('POST', 'ComputerSystem.Reset').map((body) => body.ResetType);
  }

  answer(request: BmcRequest): BmcAnswer | 'hang up' {
    this.requests.push(request);
    for (const fault of this.faults) {
      const answer = fault(request, this);
      if (answer !== undefined) return answer;
    }
    return this.answerRightly(request);
  }

  answerRightly(request: BmcRequest): BmcAnswer {
    const path = request.path.replace(/\/$/, '');
    if (path === '/redfish/v1') return { status: 200, body: this.tree[path] ?? {} };
    if (path === sessionsPath && request.method === 'POST') return this.#login(request);
    if (!this.#isAuthorized(request)) return { status: 401 };
    if (request.method === 'DELETE') return this.#logout(path);
    if (request.method === 'POST' && path.endsWith('ComputerSystem.Reset')) return this.#reset(request);
    const resource = this.tree[path];
    if (resource === undefined) return { status: 404 };
    if (request.method === 'GET') return { status: 200, body: resource };
    if (request.method === 'PATCH') return this.#patch(resource, request);
    return { status: 405 };
  }

  #login({ body }: BmcRequest): BmcAnswer {
    if (body.UserName !== user.username || body.Password !== user.password) return { status: 401 };
    if (this.sessions.size >= this.sessionLimit)
      return bmcError(503, 'IDRAC.2.1.RAC0218', 'The maximum number of user sessions is reached.');
    const id = String(++this.#sessionCount);
    this.sessions.add(id);
    this.mostSessions = Math.max(this.mostSessions, this.sessions.size);
    const session = { UserName: user.username, CreatedTime: `2026-11-29T12:00:0${id}Z` };
    this.tree[`${sessionsPath}/${id}`] = session;
    return {
      status: 201,
      headers: { 'x-auth-token': `token-${id}`, location: `${sessionsPath}/${id}` },
      body: session,
    };
  }

  #logout(path: string): BmcAnswer {
    delete this.tree[path];
    return { status: this.sessions.delete(path.slice(sessionsPath.length + 1)) ? 204 : 404 };
  }

  #isAuthorized({ headers }: BmcRequest): boolean {
    const token = headers['x-auth-token'];
    return headers.authorization === basic || this.sessions.has(token?.slice('token-'.length) ?? '');
  }

  #reset({ body }: BmcRequest): BmcAnswer {
    this.system.PowerState = ['ForceOff', 'GracefulShutdown'].includes(String(body.ResetType)) ? 'Off' : 'On';
    return { status: 204 };
  }

  #patch(resource: JsonObject, { body }: BmcRequest): BmcAnswer {
    resource.Boot = { ...asObject(resource.Boot), ...asObject(body.Boot) };
    return { status: 204, headers: { 'content-type': 'application/json' } };
  }
}

/** A Redfish error body with one message. */
export function bmcError(status: number, id: string, message = '', more: JsonObject = {}): BmcAnswer {
  const info = { MessageId: id, Message: message, ...more };
  return { status, body: { error: { code: id, message, '@Message.ExtendedInfo': [info] } } };
}

export interface RunningBmc {
  address: string;
  certificateSha256: string;
  close(): Promise<void>;
}

export async function serveBmc(
  bmc: FakeBmc,
  identity: ServerIdentity,
  tls: ServerOptions = {},
  port = 0,
): Promise<RunningBmc> {
  const server = createServer(
    { ...identity, ...tls },
    (request, response) => void handle(bmc, request, response),
  );
  server.on('tlsClientError', () => {});
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address() as AddressInfo;
  return {
    address: `https://127.0.0.1:${bound.port}`,
    certificateSha256: new X509Certificate(
      tls.cert === undefined ? identity.cert : String(tls.cert),
    ).fingerprint256
      .replaceAll(':', '')
      .toLowerCase(),
    close: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function handle(bmc: FakeBmc, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const answer = bmc.answer({
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers as Record<string, string | undefined>,
    body: body === '' ? {} : JSON.parse(body),
  });
  if (answer === 'hang up') return void request.socket.destroy();
  if (answer.delayMs !== undefined) await sleep(answer.delayMs);
  const content =
    typeof answer.body === 'object' && answer.body !== null ? JSON.stringify(answer.body) : answer.body;
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  response.end(content?.toString());
}
