import type { FastifyReply } from 'fastify';

/** Aborts when the client hangs up, so that an abandoned long poll ends. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
