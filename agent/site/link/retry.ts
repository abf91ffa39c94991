import { backoffMs } from '#base/backoff.ts';
import { systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';

const limits = { firstMs: 500, maxMs: 15_000 };

/**
 * Calls `work` over and over until `signal` aborts. After a failure it waits, longer each time and with jitter; what fails for the
 * first time in a row is logged as a warning, the rest as debug, and the recovery once.
 */
export async function repeatForever(
  what: string,
  work: () => Promise<void>,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await work();
      if (failures > 0) log.info({ failures }, `${what} works again`);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      log[failures === 1 ? 'warn' : 'debug']({ err: error, failures }, `${what} failed; trying again`);
      await systemClock.sleep(backoffMs(failures, limits), signal).catch(ignore);
    }
  }
}
