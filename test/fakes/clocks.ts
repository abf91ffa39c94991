import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';

/** Sleeps pass `factor` times faster than asked; the time of day is the real one. */
export function hastyClock(factor: number): Clock {
  return {
    now: () => Date.now(),
    sleep: (milliseconds, signal) => delay(milliseconds / factor, undefined, signal ? { signal } : {}),
  };
}

export interface SteppingClock extends Clock {
  /** What was slept, in order, in milliseconds. */
  readonly sleeps: number[];
}

/** Time that passes only by sleeping, at once. */
export function steppingClock(start = 0): SteppingClock {
  let now = start;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => now,
    sleep: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      sleeps.push(milliseconds);
      now += milliseconds;
    },
  };
}

export interface StoppedClock extends Clock {
  /** Resolves with the wanted length of the next sleep; it ends only by `wake` or its signal. */
  nextSleep(): Promise<number>;
  wake(): void;
}

/** A sleep lasts until the test ends it. */
export function stoppedClock(): StoppedClock {
  let asleep = Promise.withResolvers<number>();
  let awake = Promise.withResolvers<void>();
  return {
    now: () => 0,
    nextSleep: () => asleep.promise,
    wake: () => awake.resolve(),
    sleep: async (milliseconds, signal) => {
      awake = Promise.withResolvers();
      signal?.addEventListener('abort', () => awake.reject(signal.reason));
      asleep.resolve(milliseconds);
      await awake.promise.finally(() => {
        asleep = Promise.withResolvers();
      });
    },
  };
}
