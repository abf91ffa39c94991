import { setTimeout as delay } from 'node:timers/promises';

/** Time as a parameter, so that tests own it. `sleep` rejects with the signal's reason when it is aborted. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, signal ? { signal } : {}),
};

/** Counts from the start of the process and never jumps, whoever sets the system's clock: for durations and deadlines. */
export const steadyClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: systemClock.sleep,
};
