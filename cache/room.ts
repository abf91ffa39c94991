import { statfs } from 'node:fs/promises';
import { evictions, type HeldFacts, missingRoom, type RoomAsked } from './desired.ts';
import { noRoom } from './faults.ts';

/** Left free for the site's database and its logs, which may share the disk: without a write nothing boots. */
const reserve = { share: 0.05, mostBytes: 1024 ** 3 };

/** What is on its way in, and how much of it the disk has by now. */
export interface Growing {
  readonly sizeBytes: number;
}

/** What takes room in the cache, and what of it must stay. */
export interface Taken {
  held: () => Iterable<HeldFacts>;
  readonly heldBytes: number;
  /** Of files that are still to be hashed. */
  readonly unprovenBytes: number;
  /** Whether it must stay: desired, pinned or in use. */
  keep: (digest: string) => boolean;
  quarantineBytes: () => Promise<number>;
  emptyQuarantine: () => Promise<unknown>;
}

/** How much may come in, and what goes for it. */
export class Room {
  readonly #root: string;
  readonly quotaBytes: number;
  /** The bytes that each was promised. */
  readonly #promised = new Map<Growing, number>();

  constructor(root: string, quotaBytes: number) {
    this.#root = root;
    this.quotaBytes = quotaBytes;
  }

  /**
   * Promises room; a further promise for the same replaces the first. Returns what is to be evicted for it. What is in quarantine takes room
   * of the disk, not of the quota, and goes before any image.
   * @throws RailheadError DRIVER_ERROR, reason `no-space`
   */
  async promise(growing: Growing, bytes: number, taken: Taken): Promise<string[]> {
    const disk = await this.#disk();
    if (await this.#needsQuarantine({ ...this.#asked(growing, bytes, taken), ...disk }, taken)) {
      await taken.emptyQuarantine();
      Object.assign(disk, await this.#disk());
    }
    this.#promised.delete(growing);
    const asked = { ...this.#asked(growing, bytes, taken), ...disk };
    const evicted = evictions(asked);
    if (evicted === undefined) throw noRoomFor(asked);
    this.#promised.set(growing, bytes);
    return evicted;
  }

  release(growing: Growing): void {
    this.#promised.delete(growing);
  }

  /** Whether the disk lacks room, and all would fit once the quarantine is empty. */
  async #needsQuarantine(asked: RoomAsked, taken: Taken): Promise<boolean> {
    if (missingRoom(asked).disk <= 0) return false;
    const bytes = await taken.quarantineBytes();
    return bytes > 0 && evictions({ ...asked, freeBytes: asked.freeBytes + bytes }) !== undefined;
  }

  #asked(growing: Growing, bytes: number, taken: Taken): Omit<RoomAsked, 'freeBytes' | 'reserveBytes'> {
    const others = [...this.#promised].filter(([one]) => one !== growing);
    const { held, heldBytes, keep, unprovenBytes } = taken;
    const unwritten = [...others, [growing, bytes] as const].map(([one, most]) => most - one.sizeBytes);
    return {
      held,
      heldBytes,
      keep,
      promisedBytes: sum(others.map(([, most]) => most)) + unprovenBytes,
      neededBytes: bytes,
      unwrittenBytes: sum(unwritten),
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
