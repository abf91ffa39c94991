import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { toWireError } from '#contract/errors.ts';
import { type Answer, errorAnswer, notFound } from './answer.ts';
import { type BootRequest, readRequest } from './request.ts';

/** Answers what is its own, and leaves the rest to the next by undefined. */
export type Route = (request: BootRequest) => Answer | undefined | Promise<Answer | undefined>;

export interface BootHttpOptions {
  address: string;
  port: number;
  /** Given the listener's own URL. In order; the first answer counts. What no route answers is not found. */
  routes(url: string): readonly Route[];
  log: Log;
}

export interface BootHttp extends Closable {
  /** `http://<address>:<port>` */
  readonly url: string;
}

/** Firmware waits between HEAD and GET; a connection closed meanwhile ends its boot (edk2 issue 9920). */
const keepAliveMs = 60_000;

/** The boot listener: GET and HEAD, no redirects, no chunks, connections kept. @throws Error with a system `code` when it cannot bind */
export async function startBootHttp(options: BootHttpOptions): Promise<BootHttp> {
  const server = createServer({ keepAliveTimeout: keepAliveMs, noDelay: true });
  server.listen(options.port, options.address);
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  const url = `http://${address}:${port}`;
  const routes = options.routes(url);
  server.on('request', (message, response) => void serve(message, response, routes, options.log));
  return { url, close: () => closed(server) };
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  routes: readonly Route[],
  log: Log,
): Promise<void> {
  const request = readRequest(message);
  try {
    const answer = await answerTo(request, routes);
    try {
      await send(answer, request?.method ?? 'GET', response);
    } finally {
      await answer.release?.();
    }
    log.debug({ from: request?.from, path: request?.path, status: answer.status }, 'boot HTTP');
  } catch (error) {
    failed(error, request, response, log);
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

async function send(answer: Answer, method: 'GET' | 'HEAD', response: ServerResponse): Promise<void> {
  const hasBody = method === 'GET' && answer.length > 0;
  // A 304 has no body, and no length of one that it does not have (RFC 9110 §15.4.5).
  const length = answer.status === 304 ? {} : { 'content-length': String(answer.length) };
  response.writeHead(answer.status, { ...answer.headers, ...length });
  if (!hasBody) {
    response.end();
    return;
  }
  const { body } = answer;
  if (!Buffer.isBuffer(body)) await body(response);
  response.end(Buffer.isBuffer(body) ? body : undefined);
}

/** A client that went away is no failure of ours; anything else is answered if nothing was sent, else the connection is cut. */
function failed(error: unknown, request: BootRequest | undefined, response: ServerResponse, log: Log): void {
  if (response.destroyed) {
    log.debug({ err: error, from: request?.from, path: request?.path }, 'boot HTTP: the client left');
    return;
  }
  log.error({ err: error, from: request?.from, path: request?.path }, 'boot HTTP request failed');
  if (response.headersSent) response.destroy();
  else void send(errorAnswer(toWireError(error)), request?.method ?? 'GET', response);
}

async function closed(server: Server): Promise<void> {
  const done = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await done;
}
