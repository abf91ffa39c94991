import { isENOENT } from '#base/errors.ts';
import { condemn } from './condemn.ts';
import { DigestLocks } from './digestLocks.ts';
import { Eviction } from './eviction.ts';
import type { HashOptions } from './hashFile.ts';
import type { Damage, HeldRecord } from './heldIndex.ts';
import { Holdings } from './holdings.ts';
import { lockCache } from './lock.ts';
import { type IsSpared, MakingRoom } from './makingRoom.ts';
import { faultOfFile, openRegular } from './openRegular.ts';
import { artifactPath, cachePaths, prepareFolders } from './path.ts';
import { Proving } from './proving.ts';
import { emptyQuarantine, quarantineBytes } from './quarantine.ts';
import { type Held, heldOf } from './read.ts';
import type { Growing } from './room.ts';
import type { Shelf } from './shelf.ts';
import { type FileStamp, sameStamp, stampAt } from './stamp.ts';
import { survey } from './survey.ts';
import { Uses } from './uses.ts';
import { PartialArtifact } from './write.ts';

/** A use is written down at most this often: every range that is served is a use. */
const useGranularityMs = 60_000;

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
  readonly #room: MakingRoom;
  readonly #lock: { close(): void } | undefined;

  private constructor(shelf: Shelf, quotaBytes: number, lock: { close(): void } | undefined) {
    this.#shelf = shelf;
    this.#lock = lock;
    this.#proving = new Proving(shelf);
    this.#eviction = new Eviction(shelf);
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

  /** Undefined when the artifact is not held, or when its file changed behind our back: then it has to be proven again. */
  async openHeld(digest: string): Promise<Held | undefined> {
    if (this.get(digest) === undefined) return undefined;
    const held = await this.#tryOpen(digest).catch(() => undefined);
    return held ?? this.#shelf.locks.run(digest, () => this.#openOrDoubt(digest));
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

  /** Undefined when the file is not the one of the record. */
  async #tryOpen(digest: string): Promise<Held | undefined> {
    const { paths, uses } = this.#shelf;
    const release = uses.begin(digest);
    try {
      const { handle, stamp } = await openRegular(artifactPath(paths, digest));
      const record = this.get(digest);
      if (record !== undefined && sameStamp(stamp, record)) {
        this.#touch(record);
        // One more reading decides: a disk that fails once is read again by the kernel, and the fault may be of who reads.
        const onFault = () => void this.verify(digest, { direct: true }).catch(this.#shelf.onFault);
        return heldOf(handle, record.sizeBytes, { onClose: release, onFault });
      }
      await handle.close();
    } catch (error) {
      release();
      throw error;
    }
    release();
    return undefined;
  }

  /** Under the digest's lock, so that what lies there now is what counts. */
  async #openOrDoubt(digest: string): Promise<Held | undefined> {
    const { paths, holdings } = this.#shelf;
    const record = this.get(digest);
    if (record === undefined) return undefined;
    try {
      const held = await this.#tryOpen(digest);
      if (held !== undefined) return held;
      const stamp = await stampAt(artifactPath(paths, digest));
      if (stamp !== undefined) holdings.doubt(digest, stamp);
      else holdings.forget(digest);
    } catch (error) {
      await this.#notOpened(record, error);
    }
    return undefined;
  }

  async #notOpened({ digest, ref }: HeldRecord, error: unknown): Promise<void> {
    const found = faultOfFile(error);
    if (found !== undefined) await condemn(this.#shelf, { digest, ref, reason: 'unreadable', found });
    else if (isENOENT(error)) this.#shelf.holdings.forget(digest);
    else throw error;
  }

  #touch(record: HeldRecord): void {
    const usedAt = this.#shelf.clock.now();
    if (Math.abs(usedAt - record.usedAt) < useGranularityMs) return;
    this.#shelf.holdings.note({ ...record, usedAt });
  }
}
