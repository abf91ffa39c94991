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
  /** The time of the day, by which it is noted when an image was read. */
  clock: Clock;
  /** For durations. */
  steady: Clock;
  log: Log;
  /** An image cannot be read now, for no fault of its own; the others are. */
  onFault(error: unknown): void;
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
  { clock, steady, log, onFault, onLost }: ScrubParts,
): Scrub {
  const stop = new AbortController();
  const state: ScrubState = { doneBytes: 0, totalBytes: 0 };
  /** Until when, on the steady clock, an image that could not be read is let be. */
  const resting = new Map<string, number>();
  const pace = pacer(bytesPerSecond, steady, stop.signal);
  const onRead = (bytes: number) => {
    state.doneBytes += bytes;
    state.totalBytes += bytes;
  };
  const read = async ({ digest, ref }: HeldRecord) => {
    Object.assign(state, { digest, doneBytes: 0 });
    if (await store.verify(digest, { direct: true, onRead, pace }))
      log.debug({ ref, digest }, 'a held image was read again');
    else onLost(digest);
  };
  const forever = async () => {
    while (!stop.signal.aborted) {
      const now = steady.now();
      const ready = store.held().filter(({ digest }) => (resting.get(digest) ?? 0) <= now);
      const { next, pauseMs } = nextToRead(ready, clock.now(), everyMs);
      if (next !== undefined) await read(next).catch((error) => putOff(next, error));
      delete state.digest;
      // Also after a reading: one that cannot be ended must not turn into a loop.
      await steady.sleep(next === undefined ? pauseMs : 1, stop.signal);
    }
  };
  const putOff = ({ digest, ref }: HeldRecord, error: unknown) => {
    stop.signal.throwIfAborted();
    resting.set(digest, steady.now() + longestPauseMs);
    onFault(error);
    log.error({ ref, digest, err: error }, 'a held image could not be read again; the others are');
  };
  const ended = forever().catch(ignore);
  return {
    state,
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** Which image is due, the one that was read least recently first; if none is, how long to wait. */
export function nextToRead(
  held: readonly HeldRecord[],
  now: number,
  everyMs: number,
): { next?: HeldRecord; pauseMs: number } {
  // What was read in the future was so by a clock that was wrong.
  const readAt = ({ verifiedAt }: HeldRecord) => (verifiedAt > now ? 0 : verifiedAt);
  let oldest: HeldRecord | undefined;
  for (const record of held) if (oldest === undefined || readAt(record) < readAt(oldest)) oldest = record;
  if (oldest === undefined) return { pauseMs: Math.min(everyMs, longestPauseMs) };
  const waitMs = readAt(oldest) + everyMs - now;
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
