import { type Damage, HeldIndex, type HeldRecord } from './heldIndex.ts';
import type { FileStamp } from './stamp.ts';

/**
 * What is known of each digest: it is held, or its file is unproven and must be hashed first, or it was damaged. In memory for every
 * question, in the index for the next start.
 */
export class Holdings {
  readonly #index: HeldIndex;
  readonly #held = new Map<string, HeldRecord>();
  readonly #unproven = new Map<string, FileStamp>();
  /** Hashed since this process began. */
  readonly #verified = new Set<string>();
  readonly #damaged: Map<string, Damage>;
  #bytes = 0;

  constructor(file: string, onFault: (error: unknown) => void) {
    this.#index = new HeldIndex(file, onFault);
    this.#damaged = new Map(this.#index.remembered.damages.map((damage) => [damage.digest, damage]));
  }

  /** What earlier runs wrote down; none of it is held before `keep`. */
  remembered(): Map<string, HeldRecord> {
    return new Map(this.#index.remembered.held.map((record) => [record.digest, record]));
  }

  /** Holds what is in the index already. */
  keep(record: HeldRecord): void {
    this.#bytes += record.sizeBytes - (this.#held.get(record.digest)?.sizeBytes ?? 0);
    this.#held.set(record.digest, record);
    this.#unproven.delete(record.digest);
  }

  /** Holds an artifact whose bytes were hashed just now, whatever was damaged of it before. */
  record(record: HeldRecord): void {
    this.note(record);
    this.#verified.add(record.digest);
    this.clearDamage(record.digest);
  }

  /** Holds an artifact, or notes something new of one: that it was used. */
  note(record: HeldRecord): void {
    this.#index.put(record);
    this.keep(record);
  }

  /** A file lies under its name, and nothing vouches for its bytes: it is not held before they were hashed. */
  doubt(digest: string, stamp: FileStamp): void {
    if (this.#held.has(digest)) this.forget(digest);
    this.#unproven.set(digest, stamp);
  }

  forget(digest: string): void {
    this.#bytes -= this.#held.get(digest)?.sizeBytes ?? 0;
    this.#held.delete(digest);
    this.#unproven.delete(digest);
    this.#verified.delete(digest);
    this.#index.remove(digest);
  }

  /** Drops records of the index that no file bears out: one flush for all of them. */
  dropRecords(digests: readonly string[]): void {
    if (digests.length === 0) return;
    this.#index.atomically(() => {
      for (const digest of digests) this.#index.remove(digest);
    });
  }

  damage(damage: Damage): void {
    this.forget(damage.digest);
    this.#damaged.set(damage.digest, damage);
    this.#index.putDamage(damage);
  }

  clearDamage(digest: string): void {
    if (this.#damaged.delete(digest)) this.#index.removeDamage(digest);
  }

  get(digest: string): HeldRecord | undefined {
    return this.#held.get(digest);
  }

  all(): IterableIterator<HeldRecord> {
    return this.#held.values();
  }

  /** Of all artifacts that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  isVerified(digest: string): boolean {
    return this.#verified.has(digest);
  }

  get unproven(): ReadonlyMap<string, FileStamp> {
    return this.#unproven;
  }

  get damaged(): ReadonlyMap<string, Damage> {
    return this.#damaged;
  }

  close(): void {
    this.#index.close();
  }
}
