import { performance } from 'node:perf_hooks';
import type { Queries } from '../store/store.ts';

const dayMs = 24 * 3_600_000;
/** A clock that is so far ahead of what was known is doubted. */
const doubtedMs = 7 * dayMs;
/** For how long nothing is removed by it then: time for an operator to set it right. */
const graceMs = dayMs;

/** A time by the clock, in milliseconds of the epoch, and by one that nobody sets. */
export interface Moment {
  wall: number;
  steady: number;
}

export function moment(): Moment {
  return { wall: Date.now(), steady: performance.now() };
}

export type ClockState = 'trusted' | 'jumped' | 'doubted';

/**
 * Looks whether the clock has gone as it should: what it is wrongly ahead would cost the books. `lastKnown`: the newest time that the books
 * tell, in milliseconds of the epoch. Each look answers `jumped` when the clock is far ahead of the look before, then `doubted` for a day.
 */
export function watchClock(lastKnown: number | undefined, start: Moment): (at: Moment) => ClockState {
  let last: Moment = { wall: lastKnown ?? start.wall, steady: start.steady };
  let doubtedUntil = Number.NEGATIVE_INFINITY;
  return (at) => {
    const aheadMs = at.wall - last.wall - (at.steady - last.steady);
    last = at;
    if (aheadMs < -doubtedMs) doubtedUntil = Number.NEGATIVE_INFINITY;
    if (aheadMs > doubtedMs) {
      doubtedUntil = at.steady + graceMs;
      return 'jumped';
    }
    return at.steady < doubtedUntil ? 'doubted' : 'trusted';
  };
}

/** When the centre, or another one on its database, was told of something last, in milliseconds of the epoch; undefined: never. */
export async function lastTold(queries: Queries): Promise<number | undefined> {
  const event = await queries
    .selectFrom('events')
    .select('received_at')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const site = await queries
    .selectFrom('sites')
    .select(({ fn }) => fn.max('seen_at').as('seen_at'))
    .executeTakeFirst();
  const times = [event?.received_at, site?.seen_at].flatMap((at) => (at ? [Date.parse(at)] : []));
  return times.length === 0 ? undefined : Math.max(...times);
}
