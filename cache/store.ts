import { DigestLocks } from './digestLocks.ts';
import { Eviction } from './eviction.ts';
import type { HashOptions } from './hashFile.ts';
import type { Damage, HeldRecord } from './heldIndex.ts';
import { Holdings } from './holdings.ts';
import { lockCache } from './lock.ts';
import { type IsSpared, MakingRoom } from './makingRoom.ts';
import { Opening } from './opening.ts';
import { cachePaths, prepareFolders } from './path.ts';
import { Proving } from './proving.ts';
import { emptyQuarantine, quarantineBytes } from './quarantine.ts';
import type { Held } from './read.ts';
import type { Growing } from './room.ts';
import type { Shelf } from './shelf.ts';
import type { FileStamp } from './stamp.ts';
import { survey } from './survey.ts';
import { Uses } from './uses.ts';
import { PartialArtifact } from './write.ts';

export interface StoreOptions extends Pick<Shelf, 'clock' | 'onFault' | 'onDamage' | 'onLeave'> {
  directory: string;
  quotaBytes: number;
}

/**
 * The artifacts on disk. Which of them may be shown? Those whose bytes were hashed while their file had the stamp that it still has. A file
 * without such a record (the index was lost, or the process died between rename and record) is hashed first. What turns out to be damaged
 * goes to quarantine.
 */
export class Store {
  readonly #shelf: Shelf;
  readonly #proving: Proving;
  readonly #eviction: Eviction;
  readonly #opening: Opening;
  readonly #room: MakingRoom;
  readonly #lock: { close(): void } | undefined;

  private constructor(shelf: Shelf, quotaBytes: number, lock: { close(): void } | undefined) {
    this.#shelf = shelf;
    this.#lock = lock;
    this.#proving = new Proving(shelf);
    this.#eviction = new Eviction(shelf);
    // One more reading decides: a disk that fails once may give the bytes the next time, and the fault may be of who reads.
    this.#opening = new Opening(shelf, (digest) => {
      this.verify(digest, { direct: true }).catch(shelf.onFault);
    });
    this.#room = new MakingRoom(shelf, this.#eviction, quotaBytes);
  }

  /**
   * Opens the store in whatever state its disk is: what cannot be read or written is told, and the rest serves.
   * @throws RailheadError CONFLICT when another process has it
   */
  static async open({ directory, quotaBytes, ...hooks }: StoreOptions): Promise<Store> {
    const paths = cachePaths(directory);
    const lock = await lockCache(paths.root);
    await prepareFolders(paths).catch(hooks.onFault);
    const holdings = new Holdings(paths.index, hooks.onFault);
    await survey(paths, holdings, hooks.clock.now(), hooks.onFault);
    const shelf = { paths, holdings, uses: new Uses(), locks: new DigestLocks(), ...hooks };
    return new Store(shelf, quotaBytes, lock);
  }

  held(): HeldRecord[] {
    return [...this.#shelf.holdings.all()];
  }

  get(digest: string): HeldRecord | undefined {
    return this.#shelf.holdings.get(digest);
  }

  get heldBytes(): number {
    return this.#shelf.holdings.bytes;
  }

  get quotaBytes(): number {
    return this.#room.quotaBytes;
  }

  /** What was held and was found damaged, and is not here again. */
  damages(): Damage[] {
    return [...this.#shelf.holdings.damaged.values()];
  }

  damage(digest: string): Damage | undefined {
    return this.#shelf.holdings.damaged.get(digest);
  }

  /** Files that must be hashed before they count. */
  get unproven(): ReadonlyMap<string, FileStamp> {
    return this.#shelf.holdings.unproven;
  }

  /** What is being removed now. */
  get leaving(): ReadonlyMap<string, HeldRecord> {
    return this.#eviction.leaving;
  }

  isInUse(digest: string): boolean {
    return this.#shelf.uses.has(digest);
  }

  /** See `Proving.prove`. */
  prove(digest: string, ref: string): Promise<boolean> {
    return this.#proving.prove(digest, ref);
  }

  /** See `Proving.verify`. */
  verify(digest: string, options: HashOptions = {}): Promise<boolean> {
    return this.#proving.verify(digest, options);
  }

  /** How many bytes of an artifact that is being hashed were read by now. */
  hashedBytes(digest: string): number | undefined {
    return this.#proving.doneBytes(digest);
  }

  /** Whether it was hashed since this process began: what an earlier one hashed may have been lost by a power cut or a bad disk. */
  isVerified(digest: string): boolean {
    return this.#shelf.holdings.isVerified(digest);
  }

  newPartial(): Promise<PartialArtifact> {
    return PartialArtifact.create(this.#shelf.paths);
  }

  /**
   * Holds what has arrived whole: it takes its own room from now on, no longer the room that was promised to it.
   * @throws RailheadError DRIVER_ERROR `digest-mismatch`, or the file system's error; the temporary stays for `discard`
   */
  async commit(
    partial: PartialArtifact,
    { digest, ref }: { digest: string; ref: string },
    facts: Record<string, unknown> = {},
  ): Promise<void> {
    await partial.flush(digest, facts);
    const { holdings, locks, clock } = this.#shelf;
    await locks.run(digest, async () => {
      const stamp = await partial.publish(digest);
      this.#room.release(partial);
      const now = clock.now();
      holdings.record({ digest, ref, ...stamp, usedAt: now, verifiedAt: now });
    });
  }

  /** See `Opening.open`. */
  openHeld(digest: string): Promise<Held | undefined> {
    return this.#opening.open(digest);
  }

  /**
   * Promises room to what comes in, evicting what was used least recently; what is spared or open stays.
   * @throws RailheadError DRIVER_ERROR, reason `no-space`
   */
  makeRoom(growing: Growing, neededBytes: number, isSpared: IsSpared): Promise<void> {
    return this.#room.promise(growing, neededBytes, isSpared);
  }

  /** Ends the promise that `makeRoom` gave. */
  releaseRoom(growing: Growing): void {
    this.#room.release(growing);
  }

  /** See `MakingRoom.beyondQuota`. */
  beyondQuota(isSpared: IsSpared): string[] {
    return this.#room.beyondQuota(isSpared);
  }

  /** See `Eviction.evict`; what is open stays. */
  evict(digest: string, isSpared: IsSpared): Promise<boolean> {
    return this.#eviction.evict(digest, (one) => isSpared(one) || this.isInUse(one));
  }

  /** See `Eviction.expel`. */
  expel(digest: string): Promise<void> {
    return this.#eviction.expel(digest);
  }

  /** Removes what is in quarantine and forgets what was damaged; returns the bytes that this frees. */
  async emptyQuarantine(): Promise<number> {
    for (const { digest } of this.damages()) this.#shelf.holdings.clearDamage(digest);
    return emptyQuarantine(this.#shelf.paths);
  }

  quarantineBytes(): Promise<number> {
    return quarantineBytes(this.#shelf.paths);
  }

  /** Ends what is being hashed; who waits for it is told. */
  endHashing(): Promise<void> {
    return this.#proving.close();
  }

  close(): void {
    this.#shelf.holdings.close();
    this.#lock?.close();
  }
}
