import { rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '#base/clock.ts';
import { syncDirectory } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { evictions, missingRoom, type RoomAsked } from './desired.ts';
import { noRoom } from './faults.ts';
import { hashFile } from './hashFile.ts';
import { HeldIndex, type HeldRecord } from './heldIndex.ts';
import { artifactPath, type CachePaths, cachePaths, listArtifacts, prepareFolders } from './path.ts';
import { type FileStamp, type Held, heldOf, openArtifact, sameStamp } from './read.ts';
import { PartialArtifact } from './write.ts';

/** A use is written down at most this often: every range that is served is a use. */
const useGranularityMs = 60_000;

/** Left free for the site's database and its logs, which may share the disk: without a write nothing boots. */
const reserve = { share: 0.05, mostBytes: 1024 ** 3 };

/** Room that a pull was promised, and what of it its file takes by now. */
interface Promised {
  bytes: number;
  partial: { readonly sizeBytes: number };
}

/**
 * The artifacts on disk. Which of them may be shown? Those whose bytes were hashed while their file had the
 * size and modification time that it still has. A file without such a record (the index was lost, or the
 * process died between rename and record) is hashed first.
 */
export class Store {
  readonly #paths: CachePaths;
  readonly #index: HeldIndex;
  readonly #clock: Clock;
  readonly #quotaBytes: number;
  readonly #held = new Map<string, HeldRecord>();
  readonly #unproven = new Map<string, FileStamp>();
  readonly #proofs = new Map<string, Promise<boolean>>();
  readonly #uses = new Map<string, number>();
  readonly #promised = new Map<string, Promised>();
  readonly evicting = new Map<string, HeldRecord>();

  private constructor(paths: CachePaths, index: HeldIndex, clock: Clock, quotaBytes: number) {
    this.#paths = paths;
    this.#index = index;
    this.#clock = clock;
    this.#quotaBytes = quotaBytes;
  }

  static async open(directory: string, quotaBytes: number, clock: Clock): Promise<Store> {
    const paths = cachePaths(directory);
    await prepareFolders(paths);
    const store = new Store(paths, new HeldIndex(paths.index), clock, quotaBytes);
    await store.#survey();
    return store;
  }

  held(): HeldRecord[] {
    return [...this.#held.values()];
  }

  get(digest: string): HeldRecord | undefined {
    return this.#held.get(digest);
  }

  /** Files that must be hashed before they count. */
  unproven(): string[] {
    return [...this.#unproven.keys()];
  }

  /**
   * Hashes a file that has no record; whether it is held now. A file with other bytes than its name says is
   * removed.
   */
  prove(digest: string, ref: string): Promise<boolean> {
    const running = this.#proofs.get(digest);
    if (running !== undefined) return running;
    const proof = this.#prove(digest, ref).finally(() => this.#proofs.delete(digest));
    this.#proofs.set(digest, proof);
    return proof;
  }

  newPartial(): Promise<PartialArtifact> {
    return PartialArtifact.create(this.#paths);
  }

  /** Records an artifact that was just committed: it takes its own room from now on, no longer the room that was promised to it. */
  async add(digest: string, ref: string): Promise<void> {
    const { size, mtimeNs } = await stat(artifactPath(this.#paths, digest), { bigint: true });
    this.#promised.delete(digest);
    this.#record({ digest, ref, sizeBytes: Number(size), mtimeNs, usedAt: this.#clock.now() });
  }

  /**
   * Undefined when the artifact is not held, or when its file changed behind our back: then it has to be proven
   * again.
   */
  async openHeld(digest: string): Promise<Held | undefined> {
    const record = this.#held.get(digest);
    if (record === undefined) return undefined;
    this.#count(digest, 1);
    const opened = await openArtifact(artifactPath(this.#paths, digest)).catch((error) => {
      this.#count(digest, -1);
      if (isENOENT(error)) return undefined;
      throw error;
    });
    if (opened !== undefined && sameStamp(opened.stamp, record)) {
      this.#touch(record);
      return heldOf(opened.handle, record.sizeBytes, () => this.#count(digest, -1));
    }
    if (opened !== undefined) {
      this.#count(digest, -1);
      await opened.handle.close();
      this.#unproven.set(digest, opened.stamp);
    }
    this.#forget(digest);
    return undefined;
  }

  /**
   * Promises room to a pull, evicting what was used least recently; `desired` and what is open stays. A further
   * promise for one digest replaces the first.
   * @throws RailheadError DRIVER_ERROR, reason `no-space`
   */
  async makeRoom(
    digest: string,
    neededBytes: number,
    desired: ReadonlySet<string>,
    partial: Promised['partial'],
  ): Promise<void> {
    const disk = await this.#disk();
    this.#promised.delete(digest);
    const asked = { ...this.#roomAsked({ bytes: neededBytes, partial }, desired), ...disk };
    const evicted = evictions(asked);
    if (evicted === undefined) throw noRoomFor(asked);
    this.#promised.set(digest, { bytes: neededBytes, partial });
    for (const one of evicted) await this.#evict(one);
  }

  /** Ends the promise that `makeRoom` gave. */
  releaseRoom(digest: string): void {
    this.#promised.delete(digest);
  }

  /** Removes an artifact whatever it is used for: who has it open reads on to the end of the file, and nobody else begins. */
  async expel(digest: string): Promise<void> {
    await this.#evict(digest);
    if (!this.#unproven.delete(digest)) return;
    await this.#removeFile(digest);
  }

  close(): void {
    this.#index.close();
  }

  #roomAsked(promise: Promised, desired: ReadonlySet<string>): Omit<RoomAsked, 'freeBytes' | 'reserveBytes'> {
    const others = [...this.#promised.values()];
    // A file that is still to be hashed takes room as well.
    const unproven = [...this.#unproven.values()].map((stamp) => stamp.sizeBytes);
    return {
      held: this.held(),
      keep: new Set([...desired, ...this.#uses.keys()]),
      promisedBytes: sum([...others.map(({ bytes }) => bytes), ...unproven]),
      neededBytes: promise.bytes,
      unwrittenBytes: sum([...others, promise].map(({ bytes, partial }) => bytes - partial.sizeBytes)),
      quotaBytes: this.#quotaBytes,
    };
  }

  async #survey(): Promise<void> {
    const records = new Map(this.#index.all().map((record) => [record.digest, record]));
    for (const digest of await listArtifacts(this.#paths)) {
      const { size, mtimeNs } = await stat(artifactPath(this.#paths, digest), { bigint: true });
      const stamp = { sizeBytes: Number(size), mtimeNs };
      const record = records.get(digest);
      if (record !== undefined && sameStamp(record, stamp)) this.#held.set(digest, record);
      else this.#unproven.set(digest, stamp);
    }
    for (const digest of records.keys()) if (!this.#held.has(digest)) this.#index.remove(digest);
  }

  async #prove(digest: string, ref: string): Promise<boolean> {
    if (this.#held.has(digest)) return true;
    const stamp = this.#unproven.get(digest);
    if (stamp === undefined) return false;
    const file = artifactPath(this.#paths, digest);
    const found = await hashFile(file);
    this.#unproven.delete(digest);
    if (found !== digest) {
      await rm(file, { force: true });
      return false;
    }
    this.#record({ digest, ref, ...stamp, usedAt: this.#clock.now() });
    return true;
  }

  async #evict(digest: string): Promise<void> {
    const record = this.#held.get(digest);
    if (record === undefined) return;
    this.evicting.set(digest, record);
    this.#forget(digest);
    await this.#removeFile(digest);
    this.evicting.delete(digest);
  }

  async #removeFile(digest: string): Promise<void> {
    const file = artifactPath(this.#paths, digest);
    await rm(file, { force: true });
    await syncDirectory(path.dirname(file));
  }

  #record(record: HeldRecord): void {
    this.#index.put(record);
    this.#held.set(record.digest, record);
  }

  #forget(digest: string): void {
    this.#held.delete(digest);
    this.#index.remove(digest);
  }

  #touch(record: HeldRecord): void {
    const now = this.#clock.now();
    if (now - record.usedAt >= useGranularityMs) this.#record({ ...record, usedAt: now });
  }

  #count(digest: string, change: 1 | -1): void {
    const uses = (this.#uses.get(digest) ?? 0) + change;
    if (uses > 0) this.#uses.set(digest, uses);
    else this.#uses.delete(digest);
  }

  async #disk(): Promise<{ freeBytes: number; reserveBytes: number }> {
    const { bavail, blocks, bsize } = await statfs(this.#paths.root);
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
