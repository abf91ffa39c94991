import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Log } from '#base/log.ts';
import { errorStatus, RailheadError, toWireError } from '#contract/errors.ts';

/** Answers every failure of `server` as `{ "error": { code, message, details } }` with the status of its code. */
export function answerErrors(server: FastifyInstance, log: Log): void {
  server.setErrorHandler((error, request, reply) => {
    const known = asRailheadError(error);
    if (known === undefined) log.error({ err: error, url: request.url }, 'request failed');
    return sendError(reply, known ?? error);
  });
  server.setNotFoundHandler((request, reply) =>
    sendError(reply, new RailheadError('NOT_FOUND', `there is no ${request.method} ${request.url} here`)),
  );
}

export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const wire = toWireError(error);
  return reply.code(errorStatus[wire.code]).send({ error: wire });
}

/** Fastify's own refusals (no JSON, too large) are the caller's input; anything else unknown stays unknown. */
function asRailheadError(error: unknown): RailheadError | undefined {
  if (error instanceof RailheadError) return error;
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const { statusCode, message } = error as Error & { statusCode?: number };
  if (statusCode === undefined || statusCode >= 500) return undefined;
  return new RailheadError('INVALID_INPUT', message, { reason: 'request' }, error);
}
