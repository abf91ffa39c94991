import { setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '#base/errors.ts';
import type { Closable } from '#base/shutdown.ts';
import type { CentralContext } from '../context.ts';
import { lastTold, moment, watchClock } from './clock.ts';
import { removeOld } from './round.ts';

/** How long after the start the first round is at most, in milliseconds. */
const firstAfterMs = 60_000;

/** Keeps the books from growing for good: removes what was kept long enough, round after round, until it is closed. */
export function startRetention(context: CentralContext): Closable {
  const stop = new AbortController();
  const done = goRound(context, stop.signal);
  return {
    close: async () => {
      stop.abort();
      await done;
    },
  };
}

async function goRound({ store, keep, times, log }: CentralContext, stop: AbortSignal): Promise<void> {
  let waitMs = Math.min(firstAfterMs, times.removeEveryMs);
  const clockAt = watchClock(await lastTold(store).catch(() => undefined), moment());
  for (;;) {
    await sleep(waitMs, undefined, { signal: stop }).catch(ignore);
    if (stop.aborted) return;
    waitMs = times.removeEveryMs;
    const clock = clockAt(moment());
    if (clock === 'jumped')
      log.warn(
        'the clock is more than a week ahead of what it was: nothing is removed for a day; set it if it is wrong',
      );
    if (clock !== 'trusted') continue;
    try {
      const removed = await removeOld(store, keep, Date.now(), stop);
      if (Object.keys(removed).length > 0) log.info({ removed }, 'what was kept long enough was removed');
    } catch (error) {
      log.error({ err: error }, 'what was kept long enough was not removed; it is tried again');
    }
  }
}
