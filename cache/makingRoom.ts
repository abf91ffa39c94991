import { leastUsed } from './desired.ts';
import type { Eviction } from './eviction.ts';
import { emptyQuarantine, quarantineBytes } from './quarantine.ts';
import { type Growing, Room, type Taken } from './room.ts';
import type { Shelf } from './shelf.ts';

/** Whether an artifact is wanted here, so that it never goes to make room. Asked again right before it goes. */
export type IsSpared = (digest: string) => boolean;

/** Makes room for what comes in, within the quota and what the disk has left: least recently used goes first. */
export class MakingRoom {
  readonly #shelf: Shelf;
  readonly #eviction: Eviction;
  readonly #room: Room;

  constructor(shelf: Shelf, eviction: Eviction, quotaBytes: number) {
    this.#shelf = shelf;
    this.#eviction = eviction;
    this.#room = new Room(shelf.paths.root, quotaBytes);
  }

  get quotaBytes(): number {
    return this.#room.quotaBytes;
  }

  /**
   * Promises room to a file that grows; a further promise for it replaces the first. What is spared or open stays, and so does what the disk
   * does not let go.
   * @throws RailheadError DRIVER_ERROR, reason `no-space`
   */
  async promise(growing: Growing, neededBytes: number, isSpared: IsSpared): Promise<void> {
    const stuck = new Set<string>();
    const stays = (digest: string) => stuck.has(digest) || this.#stays(digest, isSpared);
    for (let isMade = false; !isMade; ) {
      isMade = true;
      for (const digest of await this.#room.promise(growing, neededBytes, this.#taken(stays))) {
        if (await this.#eviction.evict(digest, stays).catch(() => false)) continue;
        stuck.add(digest);
        isMade = false;
      }
    }
  }

  /** Ends a promise. */
  release(growing: Growing): void {
    this.#room.release(growing);
  }

  /** What is beyond the quota, least recently used first, of what may go. */
  beyondQuota(isSpared: IsSpared): string[] {
    const { holdings } = this.#shelf;
    const { heldBytes, keep } = this.#taken((digest) => this.#stays(digest, isSpared));
    if (heldBytes <= this.quotaBytes) return [];
    return leastUsed(holdings.all(), heldBytes - this.quotaBytes, keep).digests;
  }

  #stays(digest: string, isSpared: IsSpared): boolean {
    return isSpared(digest) || this.#shelf.uses.has(digest);
  }

  #taken(keep: (digest: string) => boolean): Taken {
    const { holdings, paths } = this.#shelf;
    return {
      held: () => holdings.all(),
      get heldBytes() {
        return holdings.bytes;
      },
      get unprovenBytes() {
        return [...holdings.unproven.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      },
      keep,
      quarantineBytes: () => quarantineBytes(paths),
      emptyQuarantine: () => emptyQuarantine(paths),
    };
  }
}
