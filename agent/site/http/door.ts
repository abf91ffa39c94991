import type { ServerOptions } from 'node:https';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { systemCode } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { errorStatus, RailheadError, toWireError } from '#contract/errors.ts';
import { explained } from '../store/noSpace.ts';

export type Door = FastifyInstance;

export interface DoorOptions {
  log: Log;
  /** With it the door speaks TLS. */
  tls?: ServerOptions;
  /** Bytes of a request's body; default 64 KiB. */
  bodyLimit?: number;
}

/** An HTTP server whose route table denies by default: what is not added to it is NOT_FOUND, and errors have the wire form. */
export function createDoor({ log, tls, bodyLimit = 64 * 1024 }: DoorOptions): Door {
  const options = { bodyLimit, connectionTimeout: 0, requestTimeout: 30_000, forceCloseConnections: true };
  const door =
    tls === undefined ? fastify(options) : (fastify({ ...options, https: tls }) as unknown as Door);
  door.setNotFoundHandler((request, reply) => {
    const error = new RailheadError('NOT_FOUND', `there is no ${request.method} ${request.url} here`);
    reply.code(404).send({ error: toWireError(error) });
  });
  door.setErrorHandler((error: FastifyError, request, reply) => {
    const wire = toWireError(ownError(error));
    const ours = wire.code === 'INTERNAL' || wire.details?.reason === 'no-space';
    const level = ours ? 'error' : 'debug';
    log[level]({ err: error, method: request.method, url: request.url, peer: request.ip }, 'request refused');
    reply.code(errorStatus[wire.code]).send({ error: wire });
  });
  return door;
}

/** Fastify's own refusals (a body too long or no JSON) are the caller's mistakes. */
function ownError(error: FastifyError): unknown {
  if (error instanceof RailheadError || error.statusCode === undefined || error.statusCode >= 500)
    return explained(error);
  return new RailheadError('INVALID_INPUT', error.message, { reason: error.code });
}

/**
 * Begins to listen. `field` is the one of the configuration that says where.
 * @throws RailheadError INVALID_CONFIG when the place cannot be had
 */
export async function listen(door: Door, where: string, field: string): Promise<void> {
  try {
    await door.listen(where.startsWith('/') ? { path: where } : listenAddress(where));
  } catch (error) {
    const reason = systemCode(error) ?? 'unknown';
    const message = `${field}: cannot listen on ${where} (${reason}): choose another place, or end what holds it`;
    throw new RailheadError('INVALID_CONFIG', message, { path: field, reason }, error);
  }
}

/** The parts of `10.77.0.1:8443` or `[fe80::1]:8443`. */
function listenAddress(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
