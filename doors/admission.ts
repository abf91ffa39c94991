import type { FastifyInstance, FastifyRequest } from 'fastify';
import { clientKey } from './clientKey.ts';
import { refusalCost } from './limits.ts';
import { type Rate, RateLimiter } from './rateLimiter.ts';
import { rateLimited } from './refusal.ts';
import { callerOf, noteCaller, type Route, rowOf } from './routes.ts';

/**
 * Lets requests in. Who calls is settled before a byte of the body is read, and asked again when the body is there: it may have been
 * held back until after a revocation. Whoever is let in draws on an allowance of its own; all others of its address share one, so
 * that no stranger keeps out those who may come.
 */
export function guard(door: FastifyInstance, rate: Rate): Strangers {
  const strangers = limitStrangers(rate);
  const known = new RateLimiter(rate);
  door.addHook('onRequest', async (request) => {
    const { row, caller, refusal } = await settle(request);
    if (caller === undefined) strangers.take(request);
    if (refusal !== undefined) throw refusal;
    if (row === undefined || caller === undefined) return;
    noteCaller(request, caller);
    takeOwn(row, caller, known, request);
  });
  door.addHook('preHandler', async (request) => {
    const row = rowOf(request);
    if (row !== undefined) noteCaller(request, await row.admit(request));
  });
  door.addHook('onResponse', async (request, { statusCode }) => {
    if (statusCode >= 400 && statusCode < 500 && statusCode !== 429 && callerOf(request) === undefined)
      strangers.charge(request);
  });
  return strangers;
}

interface Settled {
  row: Route | undefined;
  caller?: unknown;
  /** Why nobody is let in. */
  refusal?: unknown;
}

async function settle(request: FastifyRequest): Promise<Settled> {
  const row = rowOf(request);
  try {
    return { row, caller: await row?.admit(request) };
  } catch (refusal) {
    return { row, refusal };
  }
}

/** @throws RailheadError RATE_LIMITED */
function takeOwn({ allowance }: Route, caller: unknown, known: RateLimiter, { ip }: FastifyRequest): void {
  const wait =
    allowance === undefined
      ? known.take(clientKey(ip))
      : allowance.limiter.take(allowance.keyOf(caller as never));
  if (wait > 0) throw rateLimited(wait, allowance === undefined ? 'address' : 'token');
}

/** What those may cost who have not shown who they are. */
export interface Strangers {
  /** @throws RailheadError RATE_LIMITED */
  take(request: FastifyRequest): void;
  /** A refusal costs more than an answer: guessing is slow. */
  charge(request: FastifyRequest): void;
}

function limitStrangers(rate: Rate): Strangers {
  const limiter = new RateLimiter(rate);
  return {
    take: ({ ip }) => {
      const wait = limiter.take(clientKey(ip));
      if (wait > 0) throw rateLimited(wait, 'address');
    },
    charge: ({ ip }) => limiter.charge(clientKey(ip), refusalCost),
  };
}
