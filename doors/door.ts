import type { Server } from 'node:http';
import type { ServerOptions } from 'node:https';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Log } from '#base/log.ts';
import { toWireError } from '#contract/errors.ts';
import { clientKey } from './clientKey.ts';
import { type ConnectionLimits, limitConnections } from './connections.ts';
import { type HttpLimits, httpLimits, idleMs, refusalCost } from './limits.ts';
import { type Rate, RateLimiter } from './rateLimiter.ts';
import { asRefusal, notServed, rateLimited, refuseUnreadable, sendError } from './refusal.ts';
import { hasCaller, noteRoutes } from './routes.ts';
import { modernTls } from './tls.ts';

export type Door = FastifyInstance;

export interface DoorOptions {
  log: Log;
  /** With it the door speaks TLS, as `modernTls` says. */
  tls?: ServerOptions | undefined;
  /** Bytes of a request's body; a route may say otherwise. */
  bodyLimit: number;
  /** Of one client address. */
  rate: Rate;
  connections: ConnectionLimits;
  /** Proxies whose `X-Forwarded-For` is believed. */
  trustProxy?: string[] | undefined;
  /** What an error of a database or system means here. */
  explain?: (error: unknown) => unknown;
  /** Others than `httpLimits` are for tests. */
  times?: Partial<HttpLimits>;
}

/**
 * An HTTP listener, not listening yet: its route table denies by default, what it answers on failure has the wire form, and what a
 * client can cost is bounded in size, time, rate and connections. Routes are added by `addRoutes` alone.
 */
export function createDoor(options: DoorOptions): Door {
  const { log, tls, bodyLimit, trustProxy } = options;
  const http = { ...httpLimits, ...options.times };
  const common = {
    bodyLimit,
    requestTimeout: httpLimits.requestTimeout,
    connectionTimeout: idleMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (error: unknown, _request: unknown, reply: Parameters<typeof sendError>[0]) =>
      void sendError(reply, asRefusal(error)),
    ...(trustProxy === undefined ? {} : { trustProxy }),
  };
  const door =
    tls === undefined
      ? fastify({ ...common, http })
      : (fastify({ ...common, https: { ...tls, ...modernTls, ...http } }) as unknown as Door);
  limitConnections(door.server as Server, options.connections, log);
  noteRoutes(door);
  limitRate(door, options.rate);
  answerFailures(door, options);
  return door;
}

/** Each request costs its address one; a refusal of somebody who has not shown who he is costs more. */
function limitRate(door: Door, rate: Rate): void {
  const limiter = new RateLimiter(rate);
  door.addHook('onRequest', async (request) => {
    const wait = limiter.take(clientKey(request.ip));
    if (wait > 0) throw rateLimited(wait, 'address');
  });
  door.addHook('onResponse', async (request, { statusCode }) => {
    if (statusCode >= 400 && statusCode < 500 && statusCode !== 429 && !hasCaller(request))
      limiter.charge(clientKey(request.ip), refusalCost);
  });
}

function answerFailures(door: Door, { log, explain = (error) => error }: DoorOptions): void {
  door.setNotFoundHandler((request, reply) => sendError(reply, notServed(request)));
  door.setErrorHandler((error, request, reply) => {
    const refusal = explain(asRefusal(error));
    logRefusal(log, refusal, request);
    return sendError(reply, refusal);
  });
}

/** What is ours to mend is an error; what a client did wrong is not worth a line. */
function logRefusal(log: Log, error: unknown, { method, url, ip }: FastifyRequest): void {
  const { code, details } = toWireError(error);
  const level = code === 'INTERNAL' || details?.reason === 'no-space' ? 'error' : 'debug';
  log[level]({ err: error, method, path: url.split('?')[0], peer: ip }, 'request refused');
}
