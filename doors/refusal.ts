import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { errorStatus, RailheadError, toWireError } from '#contract/errors.ts';

/** `key` of a limit, `address` or `token`, has made too many requests. */
export function rateLimited(waitSeconds: number, limit: 'address' | 'token'): RailheadError {
  const retryAfterSeconds = Math.ceil(waitSeconds);
  return new RailheadError('RATE_LIMITED', `too many requests: try again in ${retryAfterSeconds} s`, {
    reason: limit,
    retryAfterSeconds,
  });
}

/** Answers `{ "error": { code, message, details } }` with the status of the code, and Retry-After where the error says it. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const wire = toWireError(error);
  const wait = wire.details?.retryAfterSeconds;
  if (typeof wait === 'number') reply.header('retry-after', wait);
  return reply.code(errorStatus[wire.code]).send({ error: wire });
}

/** The path alone: a query may hold what no log and no answer should repeat. */
export function notServed({ method, url }: { method: string; url: string }): RailheadError {
  const path = url.split('?')[0];
  return new RailheadError('NOT_FOUND', `there is no ${method} ${path} here`);
}

/** Says nothing of the URL, which has no part that is known to be its path. */
export function noPath(): RailheadError {
  return new RailheadError('INVALID_INPUT', 'the path cannot be decoded: encode it as UTF-8', {
    reason: 'request',
  });
}

/** @throws RailheadError INVALID_INPUT for what HTTP/1.1 does not allow (RFC 9112 §3.2) */
export function refuseHostless({ httpVersion, headers }: IncomingMessage): void {
  if (httpVersion !== '1.1' || headers.host !== undefined) return;
  throw new RailheadError('INVALID_INPUT', 'an HTTP/1.1 request names its Host', { reason: 'request' });
}

/** Fastify's own refusals (no JSON, too large) are the caller's input; any other unknown error stays as it is. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof RailheadError || !(error instanceof Error) || !('statusCode' in error)) return error;
  const { statusCode, message } = error as Error & { statusCode?: number };
  if (statusCode === undefined || statusCode >= 500) return error;
  return new RailheadError('INVALID_INPUT', message, { reason: 'request' }, error);
}

const unreadableStatus: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Cuts off a connection whose bytes are no request, or too long or too slow a one; says so where something can still be said. */
export function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed) return;
  const status = unreadableStatus[error.code ?? ''] ?? 400;
  const reason = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({
    error: { code: 'INVALID_INPUT', message: `this is no request that is served here: ${reason}` },
  });
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ].join('\r\n');
  if (socket.writable && error.code !== 'ECONNRESET') socket.write(`${head}\r\n\r\n${body}`);
  socket.destroySoon();
}
