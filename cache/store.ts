import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '#base/clock.ts';
import { syncDirectory } from '#base/durableFile.ts';
import { isENOENT, systemCode } from '#base/errors.ts';
import { leastUsed } from './desired.ts';
import { isUnreadable } from './diskFaults.ts';
import { type HashOptions, hashFile } from './hashFile.ts';
import type { Damage, HeldRecord } from './heldIndex.ts';
import { Holdings } from './holdings.ts';
import { artifactPath, type CachePaths, cachePaths, prepareFolders } from './path.ts';
import { emptyQuarantine, moveToQuarantine, quarantineBytes } from './quarantine.ts';
import { type FileStamp, type Held, heldOf, openArtifact, sameStamp } from './read.ts';
import { type Promised, Room, type Taken } from './room.ts';
import { survey } from './survey.ts';
import { Uses } from './uses.ts';
import { PartialArtifact } from './write.ts';

/** A use is written down at most this often: every range that is served is a use. */
const useGranularityMs = 60_000;

export interface StoreOptions {
  directory: string;
  quotaBytes: number;
  clock: Clock;
  /** The disk refused something that the cache can do without for now. */
  onFault: (error: unknown) => void;
  /** An artifact that was held, or lay under its name, is no more. */
  onDamage: (damage: Damage) => void;
}

/**
 * The artifacts on disk. Which of them may be shown? Those whose bytes were hashed while their file had the
 * size and modification time that it still has. A file without such a record (the index was lost, or the
 * process died between rename and record) is hashed first. What turns out to be damaged goes to quarantine.
 */
export class Store {
  readonly #options: StoreOptions;
  readonly #paths: CachePaths;
  readonly #holdings: Holdings;
  readonly #room: Room;
  readonly #uses = new Uses();
  readonly #unproven: Map<string, FileStamp>;
  readonly #proofs = new Map<string, Promise<boolean>>();
  /** Hashed since this process began. */
  readonly #verified = new Set<string>();
  /** What somebody waits for: hashed as fast as it goes. */
  readonly #hurried = new Set<string>();
  readonly evicting = new Map<string, HeldRecord>();

  private constructor(
    options: StoreOptions,
    paths: CachePaths,
    holdings: Holdings,
    unproven: Map<string, FileStamp>,
  ) {
    this.#options = options;
    this.#paths = paths;
    this.#holdings = holdings;
    this.#unproven = unproven;
    this.#room = new Room(paths.root, options.quotaBytes);
  }

  /** Opens the store in whatever state its disk is: what cannot be read or written is told, and the rest serves. */
  static async open(options: StoreOptions): Promise<Store> {
    const paths = cachePaths(options.directory);
    await prepareFolders(paths).catch(options.onFault);
    const holdings = new Holdings(paths.index, options.onFault);
    return new Store(options, paths, holdings, await survey(paths, holdings, options.onFault));
  }

  held(): HeldRecord[] {
    return [...this.#holdings.all()];
  }

  get(digest: string): HeldRecord | undefined {
    return this.#holdings.get(digest);
  }

  get heldBytes(): number {
    return this.#holdings.bytes;
  }

  get quotaBytes(): number {
    return this.#room.quotaBytes;
  }

  /** What was held and was found damaged, and is not here again. */
  damages(): Damage[] {
    return [...this.#holdings.damaged.values()];
  }

  damage(digest: string): Damage | undefined {
    return this.#holdings.damaged.get(digest);
  }

  /** Files that must be hashed before they count. */
  unproven(): string[] {
    return [...this.#unproven.keys()];
  }

  isInUse(digest: string): boolean {
    return this.#uses.has(digest);
  }

  /**
   * Hashes a file that has no record; whether it is held now. A file with other bytes than its name says, or that cannot be read, goes to
   * quarantine.
   */
  prove(digest: string, ref: string): Promise<boolean> {
    return this.#once(digest, async () => {
      if (this.#holdings.get(digest) !== undefined) return true;
      const stamp = this.#unproven.get(digest);
      if (stamp === undefined) return false;
      const isWhole = await this.#isWhole(digest, ref);
      this.#unproven.delete(digest);
      const now = this.#options.clock.now();
      if (isWhole) this.#record({ digest, ref, ...stamp, usedAt: now, verifiedAt: now });
      return isWhole;
    });
  }

  /**
   * Hashes an artifact that is held once more; whether it is still held. One that was damaged goes to quarantine.
   * @throws what `pace` throws
   */
  verify(digest: string, options: HashOptions = {}): Promise<boolean> {
    return this.#once(digest, async () => {
      const record = this.#holdings.get(digest);
      if (record === undefined) return false;
      const pace = (bytes: number) => (this.#hurried.has(digest) ? undefined : options.pace?.(bytes));
      if (!(await this.#isWhole(digest, record.ref, { ...options, pace }))) return false;
      const current = this.#holdings.get(digest);
      if (current !== undefined) this.#record({ ...current, verifiedAt: this.#options.clock.now() });
      return current !== undefined;
    });
  }

  /** Whether it was hashed since this process began: what an earlier one hashed may have been lost by a power cut or a bad disk. */
  isVerified(digest: string): boolean {
    return this.#verified.has(digest);
  }

  /** The same as `verify`, for somebody who waits: a slow verification that is under way hurries. */
  async verifyNow(digest: string): Promise<boolean> {
    this.#hurried.add(digest);
    try {
      return await this.verify(digest);
    } finally {
      this.#hurried.delete(digest);
    }
  }

  newPartial(): Promise<PartialArtifact> {
    return PartialArtifact.create(this.#paths);
  }

  /** Records an artifact that was just committed: it takes its own room from now on, no longer the room that was promised to it. */
  async add(digest: string, ref: string): Promise<void> {
    const { size, mtimeNs } = await stat(artifactPath(this.#paths, digest), { bigint: true });
    this.#room.release(digest);
    this.#unproven.delete(digest);
    const now = this.#options.clock.now();
    this.#record({ digest, ref, sizeBytes: Number(size), mtimeNs, usedAt: now, verifiedAt: now });
  }

  /**
   * Undefined when the artifact is not held, or when its file changed behind our back: then it has to be proven
   * again.
   */
  async openHeld(digest: string): Promise<Held | undefined> {
    const record = this.#holdings.get(digest);
    if (record === undefined) return undefined;
    const release = this.#uses.begin(digest);
    const opened = await openArtifact(artifactPath(this.#paths, digest)).catch((error) => {
      release();
      if (isENOENT(error)) return undefined;
      if (!isUnreadable(error)) throw error;
      return this.#condemn(digest, record.ref, 'unreadable', String(systemCode(error)));
    });
    if (opened !== undefined && sameStamp(opened.stamp, record)) {
      this.#touch(record);
      const onFault = (code: string) => void this.#condemn(digest, record.ref, 'unreadable', code);
      return heldOf(opened.handle, record.sizeBytes, { onClose: release, onFault });
    }
    if (opened !== undefined) {
      release();
      await opened.handle.close();
      this.#unproven.set(digest, opened.stamp);
    }
    this.#holdings.forget(digest);
    return undefined;
  }

  /**
   * Promises room to a pull, emptying the quarantine and evicting what was used least recently; `spared` and what is open stays. A further
   * promise for one digest replaces the first.
   * @throws RailheadError DRIVER_ERROR, reason `no-space`
   */
  async makeRoom(
    digest: string,
    neededBytes: number,
    spared: ReadonlySet<string>,
    partial: Promised['partial'],
  ): Promise<void> {
    const promise = { bytes: neededBytes, partial };
    const ask = () => this.#room.promise(digest, promise, () => this.#taken(spared));
    // Gone files first: they are worth least.
    const evicted = await ask().catch(async (error) => {
      if ((await emptyQuarantine(this.#paths)) === 0) throw error;
      return ask();
    });
    for (const one of evicted) await this.evict(one);
  }

  /** Ends the promise that `makeRoom` gave. */
  releaseRoom(digest: string): void {
    this.#room.release(digest);
  }

  /** What is beyond the quota, least recently used first, of what may go. */
  beyondQuota(spared: ReadonlySet<string>): string[] {
    const { heldBytes, keep } = this.#taken(spared);
    if (heldBytes <= this.quotaBytes) return [];
    return leastUsed(this.#holdings.all(), heldBytes - this.quotaBytes, keep).digests;
  }

  /** Removes an artifact whatever it is used for: who has it open reads on to the end of the file, and nobody else begins. */
  async expel(digest: string): Promise<void> {
    await this.evict(digest);
    this.#holdings.clearDamage(digest);
    if (this.#unproven.delete(digest)) await this.#removeFile(digest);
  }

  async evict(digest: string): Promise<void> {
    const record = this.#holdings.get(digest);
    if (record === undefined) return;
    this.evicting.set(digest, record);
    this.#holdings.forget(digest);
    this.#verified.delete(digest);
    await this.#removeFile(digest);
    this.evicting.delete(digest);
  }

  /** Removes what is in quarantine and forgets what was damaged; returns the bytes that this frees. */
  async emptyQuarantine(): Promise<number> {
    for (const { digest } of this.damages()) this.#holdings.clearDamage(digest);
    return emptyQuarantine(this.#paths);
  }

  quarantineBytes(): Promise<number> {
    return quarantineBytes(this.#paths);
  }

  close(): void {
    this.#holdings.close();
  }

  /** One hashing of a digest at a time; whoever asks meanwhile gets the same answer. */
  #once(digest: string, work: () => Promise<boolean>): Promise<boolean> {
    const running = this.#proofs.get(digest);
    if (running !== undefined) return running;
    const proof = work().finally(() => this.#proofs.delete(digest));
    this.#proofs.set(digest, proof);
    return proof;
  }

  async #isWhole(digest: string, ref: string, options: HashOptions = {}): Promise<boolean> {
    const release = this.#uses.begin(digest);
    try {
      const found = await hashFile(artifactPath(this.#paths, digest), options);
      if (found === digest) return true;
      await this.#condemn(digest, ref, 'bit-rot', found);
    } catch (error) {
      if (isENOENT(error)) this.#holdings.forget(digest);
      else if (isUnreadable(error)) await this.#condemn(digest, ref, 'unreadable', String(systemCode(error)));
      else throw error;
    } finally {
      release();
    }
    return false;
  }

  /** Nobody gets these bytes any more: not now, not after a restart. Who has the file open reads on; its digest tells the receiver. */
  async #condemn(digest: string, ref: string, reason: Damage['reason'], found: string): Promise<undefined> {
    if (this.#holdings.get(digest) === undefined && !this.#unproven.has(digest)) return;
    this.#unproven.delete(digest);
    this.#verified.delete(digest);
    const damage = { digest, ref, at: this.#options.clock.now(), reason, found };
    this.#holdings.damage(damage);
    await moveToQuarantine(this.#paths, digest).catch(this.#options.onFault);
    this.#options.onDamage(damage);
  }

  #taken(spared: ReadonlySet<string>): Taken {
    let unprovenBytes = 0;
    for (const { sizeBytes } of this.#unproven.values()) unprovenBytes += sizeBytes;
    return {
      held: () => this.#holdings.all(),
      heldBytes: this.#holdings.bytes,
      unprovenBytes,
      keep: (digest) => spared.has(digest) || this.#uses.has(digest),
    };
  }

  async #removeFile(digest: string): Promise<void> {
    const file = artifactPath(this.#paths, digest);
    await rm(file, { force: true });
    await syncDirectory(path.dirname(file)).catch(this.#options.onFault);
  }

  #record(record: HeldRecord): void {
    this.#holdings.record(record);
    this.#verified.add(record.digest);
  }

  #touch(record: HeldRecord): void {
    const usedAt = this.#options.clock.now();
    const current = this.#holdings.get(record.digest);
    if (current === undefined || usedAt - current.usedAt < useGranularityMs) return;
    this.#holdings.record({ ...current, usedAt });
  }
}
