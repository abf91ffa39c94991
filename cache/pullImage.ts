import type { Dispatcher } from 'undici';
import { abortable } from '#base/abortable.ts';
import type { Clock } from '#base/clock.ts';
import { RailheadError } from '#contract/errors.ts';
import type { CacheImage } from '#contract/images.ts';
import { diskFault, isFullDisk } from './diskFaults.ts';
import { noRoom, unreachable } from './faults.ts';
import type { IsSpared } from './makingRoom.ts';
import { pullSource } from './pull/source.ts';
import type { Store } from './store.ts';
import type { PartialArtifact } from './write.ts';

export interface PullContext {
  store: Store;
  /** Whether an image must not be evicted for this one. */
  isSpared: IsSpared;
  dispatcher: Dispatcher;
  clock: Clock;
  quotaBytes: number;
  signal: AbortSignal;
  onReceived: (bytes: number) => void;
  /** Waited for before so many more bytes are taken in. */
  pace: (bytes: number) => Promise<void>;
}

/**
 * Brings one image into the store: from a file of an earlier run that proves right, else from the first of its
 * sources that serves the registered bytes.
 * @throws RailheadError DRIVER_ERROR of the most telling failure: what a source served says more than that
 *   another was not reached
 */
export async function pullImage(image: CacheImage, context: PullContext): Promise<void> {
  if (await abortable(context.store.prove(image.digest, image.ref), context.signal)) return;
  const failures: unknown[] = [];
  for (const source of image.sources) {
    try {
      return await pullFrom(source, image, context);
    } catch (error) {
      if (isFullDisk(error)) throw noRoom(image.sizeBytes, 'disk');
      const fault = diskFault(error);
      if (fault !== undefined) throw fault;
      if (context.signal.aborted || isReason(error, 'no-space')) throw error;
      failures.push(error);
    }
  }
  throw failures.find((error) => !isReason(error, 'unreachable')) ?? failures[0] ?? withoutSource(image);
}

async function pullFrom(source: string, image: CacheImage, context: PullContext): Promise<void> {
  const { store } = context;
  const { digest, sizeBytes } = image;
  const partial = await store.newPartial();
  try {
    const makeRoom = promising(partial, context);
    if (sizeBytes !== undefined) await makeRoom(sizeBytes);
    const { contentType } = await pullSource(source, digest, reporting(partial, context, makeRoom), {
      ...context,
      limitBytes: context.quotaBytes,
      ...(sizeBytes === undefined ? { onSize: makeRoom } : { expectedBytes: sizeBytes }),
    });
    await store.commit(partial, image, contentType === undefined ? {} : { contentType });
  } finally {
    store.releaseRoom(partial);
    await partial.discard();
  }
}

type MakeRoom = (bytes: number) => Promise<void>;

/** Promises the most that was asked for so far. */
function promising(partial: PartialArtifact, { store, isSpared }: PullContext): MakeRoom {
  let wantedBytes = 0;
  return (bytes) => {
    wantedBytes = Math.max(wantedBytes, bytes);
    return store.makeRoom(partial, wantedBytes, isSpared);
  };
}

/**
 * Others write to the disk as well, and some sources do not say how much they send: so the room is looked at again
 * every so many bytes.
 */
const lookEveryBytes = 1024 * 1024;

function reporting(partial: PartialArtifact, { onReceived, pace }: PullContext, makeRoom: MakeRoom) {
  let lookAt = 0;
  return {
    get sizeBytes() {
      return partial.sizeBytes;
    },
    append: async (chunk: Uint8Array) => {
      await pace(chunk.length);
      const arrived = partial.sizeBytes + chunk.length;
      if (arrived > lookAt) {
        await makeRoom(arrived);
        lookAt = arrived + lookEveryBytes;
      }
      await partial.append(chunk);
      onReceived(partial.sizeBytes);
    },
    restart: () => {
      lookAt = 0;
      return partial.restart();
    },
  };
}

function isReason(error: unknown, reason: string): boolean {
  return error instanceof RailheadError && error.details.reason === reason;
}

function withoutSource(image: CacheImage): RailheadError {
  return unreachable(image.ref, 'its catalog entry names no source');
}
