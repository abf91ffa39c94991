import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { Slots } from '#base/slots.ts';
import { toWireError } from '#contract/errors.ts';
import { type Answer, errorAnswer, notFound } from './answer.ts';
import { limitConnections } from './connections.ts';
import { type BootRequest, readRequest } from './request.ts';
import { type SendLimits, send } from './send.ts';
import { inTurn } from './turns.ts';

/** Answers what is its own, and leaves the rest to the next by undefined. */
export type Route = (request: BootRequest) => Answer | undefined | Promise<Answer | undefined>;

export interface BootHttpOptions {
  address: string;
  port: number;
  /** Given the listener's own URL. In order; the first answer counts. What no route answers is not found. */
  routes(url: string): readonly Route[];
  log: Log;
  /** Others than `defaultLimits` are for tests. */
  limits?: Partial<BootHttpLimits>;
}

export interface BootHttpLimits {
  connectionsPerClient: number;
  /** Images that are sent at a time: each holds two buffers of 256 KiB while its client reads. */
  transfers: number;
  stallMs: number;
}

export interface BootHttp extends Closable {
  /** `http://<address>:<port>` */
  readonly url: string;
}

/** A client that stalls costs at most its few connections for a minute (Node cuts off within two `stallMs`), all of them together 48 MiB. */
const defaultLimits: BootHttpLimits = { connectionsPerClient: 16, transfers: 96, stallMs: 30_000 };

/** Firmware waits between HEAD and GET; a connection closed meanwhile ends its boot (edk2 issue 9920). */
const keepAliveMs = 60_000;

/** The boot listener: GET and HEAD, no redirects, no chunks, connections kept. @throws Error with a system `code` when it cannot bind */
export async function startBootHttp(options: BootHttpOptions): Promise<BootHttp> {
  const { log } = options;
  const { connectionsPerClient, transfers, stallMs } = { ...defaultLimits, ...options.limits };
  const server = createServer({ keepAliveTimeout: keepAliveMs, noDelay: true });
  limitConnections(server, connectionsPerClient, log);
  server.listen(options.port, options.address);
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  const url = `http://${address}:${port}`;
  const routes = options.routes(url);
  const limits: SendLimits = { transfers: new Slots(transfers), stallMs };
  server.on(
    'request',
    inTurn((message, response) => serve(message, response, { routes, limits, log })),
  );
  return { url, close: () => closed(server) };
}

interface Serving {
  routes: readonly Route[];
  limits: SendLimits;
  log: Log;
}

async function serve(message: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const { routes, limits, log } = serving;
  const request = readRequest(message);
  try {
    const answer = await answerTo(request, routes);
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

async function answerTo(request: BootRequest | undefined, routes: readonly Route[]): Promise<Answer> {
  if (request === undefined)
    return errorAnswer({ code: 'INVALID_INPUT', message: 'only GET and HEAD of a path are served here' });
  for (const route of routes) {
    const answer = await route(request);
    if (answer !== undefined) return answer;
  }
  return notFound(request.path);
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

async function closed(server: Server): Promise<void> {
  const done = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await done;
}
