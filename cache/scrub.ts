import type { Clock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { HeldRecord } from './heldIndex.ts';
import type { Store } from './store.ts';

export interface ScrubOptions {
  /** Bytes a second that are read at most. */
  bytesPerSecond: number;
  /** Every image is read once in so many milliseconds. */
  everyMs: number;
}

/** What is being read now, and how much has been read since the start. */
export interface ScrubState {
  digest?: string;
  doneBytes: number;
  totalBytes: number;
}

export interface Scrub extends Closable {
  readonly state: Readonly<ScrubState>;
}

export interface ScrubParts {
  clock: Clock;
  log: Log;
  /** An image that was to be read is not held any more. */
  onLost(digest: string): void;
}

const longestPauseMs = 3_600_000;

/**
 * Reads everything that is held again and again, slowly, from the disk itself: what a disk loses without a word is found before a machine
 * needs it. When each image was read last is in the index, so a restart goes on with the one that waits longest.
 */
export function startScrub(
  store: Store,
  { bytesPerSecond, everyMs }: ScrubOptions,
  { clock, log, onLost }: ScrubParts,
): Scrub {
  const stop = new AbortController();
  const state: ScrubState = { doneBytes: 0, totalBytes: 0 };
  const pace = pacer(bytesPerSecond, clock, stop.signal);
  const read = async ({ digest, ref }: HeldRecord) => {
    Object.assign(state, { digest, doneBytes: 0 });
    const count = async (bytes: number) => {
      state.doneBytes += bytes;
      state.totalBytes += bytes;
      await pace(bytes);
    };
    if (await store.verify(digest, { direct: true, pace: count }))
      log.debug({ ref, digest }, 'a held image was read again');
    else onLost(digest);
  };
  const forever = async () => {
    while (!stop.signal.aborted) {
      const { next, pauseMs } = nextToRead(store.held(), clock.now(), everyMs);
      if (next !== undefined) await read(next);
      delete state.digest;
      // Also after a reading: one that cannot be ended must not turn into a loop.
      await clock.sleep(next === undefined ? pauseMs : 1, stop.signal);
    }
  };
  const ended = forever().catch((error) => {
    if (!stop.signal.aborted)
      log.error({ err: error }, 'the cache is not read again any more; restart the agent');
  });
  return {
    state,
    close: async () => {
      stop.abort();
      await ended.catch(ignore);
    },
  };
}

/** Which image is due, the one that was read least recently first; if none is, how long to wait. */
export function nextToRead(
  held: readonly HeldRecord[],
  now: number,
  everyMs: number,
): { next?: HeldRecord; pauseMs: number } {
  let oldest: HeldRecord | undefined;
  for (const record of held)
    if (oldest === undefined || record.verifiedAt < oldest.verifiedAt) oldest = record;
  if (oldest === undefined) return { pauseMs: Math.min(everyMs, longestPauseMs) };
  const waitMs = oldest.verifiedAt + everyMs - now;
  if (waitMs <= 0) return { next: oldest, pauseMs: 0 };
  return { pauseMs: Math.min(waitMs, longestPauseMs) };
}

/** Waits so long after each block that no more than the rate is read, whatever the disk could do. */
function pacer(bytesPerSecond: number, clock: Clock, signal: AbortSignal): (bytes: number) => Promise<void> {
  let freeAt = 0;
  return async (bytes) => {
    signal.throwIfAborted();
    const now = clock.now();
    freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1000;
    if (freeAt > now) await clock.sleep(freeAt - now, signal);
  };
}
