import type { Clock } from '#base/clock.ts';

/** What ends a piece of work before it is done. */
export interface Limits {
  /** Milliseconds since the epoch. */
  deadline?: number | undefined;
  /** Ends what only waits and reads; a write that is on its way comes to its end. */
  signal?: AbortSignal | undefined;
}

/** The limits of a piece of work that has begun. */
export interface Bounds {
  /** Its pauses end when the work does. */
  clock: Clock;
  /** Milliseconds since the epoch; infinite where there is none. */
  deadline: number;
  /** Ends what it waits for and reads; undefined where nothing does. */
  end: AbortSignal | undefined;
}

/** The longest that a timer can be. */
const longestMs = 2 ** 31 - 1;

/** One signal for both; undefined where nothing ends it. At the deadline its reason is a `TimeoutError`. */
export function endOf({ deadline, signal }: Limits, now: number): AbortSignal | undefined {
  if (deadline === undefined) return signal;
  const timeout = AbortSignal.timeout(Math.min(longestMs, Math.max(0, deadline - now)));
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

export function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
