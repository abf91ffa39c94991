import { statfs } from 'node:fs/promises';
import { evictions, type HeldFacts, missingRoom, type RoomAsked } from './desired.ts';
import { noRoom } from './faults.ts';

/** Left free for the site's database and its logs, which may share the disk: without a write nothing boots. */
const reserve = { share: 0.05, mostBytes: 1024 ** 3 };

/** Room that a pull was promised, and what of it its file takes by now. */
export interface Promised {
  bytes: number;
  partial: { readonly sizeBytes: number };
}

/** What takes room in the cache, and what of it must stay. */
export interface Taken {
  held: () => Iterable<HeldFacts>;
  heldBytes: number;
  /** Of files that are still to be hashed. */
  unprovenBytes: number;
  /** Whether it must stay: desired, pinned or in use. */
  keep: (digest: string) => boolean;
}

/** How much may come in, and what goes for it. */
export class Room {
  readonly #root: string;
  readonly quotaBytes: number;
  readonly #promised = new Map<string, Promised>();

  constructor(root: string, quotaBytes: number) {
    this.#root = root;
    this.quotaBytes = quotaBytes;
  }

  /**
   * Promises room to a pull; a further promise for one digest replaces the first. Returns what is to be evicted for it.
   * @throws RailheadError DRIVER_ERROR, reason `no-space`
   */
  async promise(digest: string, promise: Promised, taken: () => Taken): Promise<string[]> {
    const disk = await this.#disk();
    this.#promised.delete(digest);
    const asked = { ...this.#asked(promise, taken()), ...disk };
    const evicted = evictions(asked);
    if (evicted === undefined) throw noRoomFor(asked);
    this.#promised.set(digest, promise);
    return evicted;
  }

  release(digest: string): void {
    this.#promised.delete(digest);
  }

  #asked(promise: Promised, taken: Taken): Omit<RoomAsked, 'freeBytes' | 'reserveBytes'> {
    const others = [...this.#promised.values()];
    const { held, heldBytes, keep, unprovenBytes } = taken;
    return {
      held,
      heldBytes,
      keep,
      promisedBytes: sum(others.map(({ bytes }) => bytes)) + unprovenBytes,
      neededBytes: promise.bytes,
      unwrittenBytes: sum([...others, promise].map(({ bytes, partial }) => bytes - partial.sizeBytes)),
      quotaBytes: this.quotaBytes,
    };
  }

  async #disk(): Promise<{ freeBytes: number; reserveBytes: number }> {
    const { bavail, blocks, bsize } = await statfs(this.#root);
    const reserveBytes = Math.min(reserve.mostBytes, Math.floor(blocks * bsize * reserve.share));
    return { freeBytes: bavail * bsize, reserveBytes };
  }
}

function noRoomFor(asked: RoomAsked): Error {
  const { quota, disk } = missingRoom(asked);
  const { neededBytes, quotaBytes, freeBytes, reserveBytes } = asked;
  return noRoom(neededBytes, quota >= disk ? 'quota' : 'disk', { quotaBytes, freeBytes, reserveBytes });
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}
