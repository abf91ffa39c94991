import { backoffMs } from '#base/backoff.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Say } from './console.ts';

const limits = { firstMs: 500, maxMs: 15_000 };

/**
 * Calls until it succeeds, with growing pauses; says each new reason of failure once, so that the console shows why nothing happens.
 * Rejects only when `signal` aborts.
 */
export async function waitUntil<Value>(
  call: () => Promise<Value>,
  what: string,
  say: Say,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<Value> {
  let said = '';
  for (let failures = 1; ; failures++) {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== said) say(`${what} failed, trying again: ${reason}`);
      said = reason;
      await clock.sleep(backoffMs(failures, limits), signal);
    }
  }
}
