import type { Server } from 'node:http';
import type { ServerOptions } from 'node:https';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Log } from '#base/log.ts';
import { toWireError } from '#contract/errors.ts';
import { guard, type Strangers } from './admission.ts';
import { type ConnectionLimits, limitConnections } from './connections.ts';
import { type HttpLimits, httpLimits, idleMs } from './limits.ts';
import type { Rate } from './rateLimiter.ts';
import { asRefusal, noPath, notServed, refuseHostless, refuseUnreadable, sendError } from './refusal.ts';
import { noteRoutes } from './routes.ts';
import { modernTls } from './tls.ts';

export type Door = FastifyInstance;

export interface DoorOptions {
  log: Log;
  /** With it the door speaks TLS, as `modernTls` says. */
  tls?: ServerOptions | undefined;
  /** For clients that have nothing newer: BMCs. */
  oldestTls?: 'TLSv1.2' | undefined;
  /** Bytes of a request's body; a route may say otherwise. */
  bodyLimit: number;
  /** Of one client address: of all strangers there, and of those whom no row gives an allowance of their own. */
  rate: Rate;
  connections: ConnectionLimits;
  /** Proxies whose `X-Forwarded-For` is believed. */
  trustProxy?: string[] | undefined;
  /** What an error of a database or system means here. */
  explain?: (error: unknown) => unknown;
  /** Others than `httpLimits`. */
  times?: Partial<HttpLimits>;
}

/**
 * An HTTP listener, not listening yet: its route table denies by default, what it answers on failure has the wire form, and what a
 * client can cost is bounded in size, time, rate and connections. Routes are added by `addRoutes` alone.
 */
export function createDoor(options: DoorOptions): Door {
  const { log, tls, oldestTls: minVersion = modernTls.minVersion, bodyLimit, trustProxy } = options;
  // A request without Host is refused by us, in our form.
  const http = { ...httpLimits, ...options.times, requireHostHeader: false };
  const common = {
    bodyLimit,
    // The ref of an image has 200 characters, each of which may be written by three.
    routerOptions: { maxParamLength: 1024 },
    requestTimeout: http.requestTimeout,
    connectionTimeout: idleMs,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      refuseUnroutable(strangers, request, reply),
    ...(trustProxy === undefined ? {} : { trustProxy }),
  };
  const door =
    tls === undefined
      ? fastify({ ...common, http })
      : (fastify({ ...common, https: { ...tls, ...modernTls, minVersion, ...http } }) as unknown as Door);
  limitConnections(door.server as Server, options.connections, log);
  noteRoutes(door);
  const strangers = guard(door, options.rate);
  door.addHook('onRequest', async ({ raw }) => refuseHostless(raw));
  answerFailures(door, options);
  return door;
}

/** What has no path to look up runs through no hook: it costs its address the same as any other refusal. */
function refuseUnroutable(strangers: Strangers, request: FastifyRequest, reply: FastifyReply): void {
  try {
    strangers.take(request);
    strangers.charge(request);
    sendError(reply, noPath());
  } catch (error) {
    sendError(reply, error);
  }
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
