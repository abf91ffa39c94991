import { type Damage, HeldIndex, type HeldRecord } from './heldIndex.ts';

/** Which artifacts are held and which were damaged: in memory for every question, in the index for the next start. */
export class Holdings {
  readonly #index: HeldIndex;
  readonly #held = new Map<string, HeldRecord>();
  readonly #damaged: Map<string, Damage>;
  #bytes = 0;

  constructor(file: string, onFault: (error: unknown) => void) {
    this.#index = new HeldIndex(file, onFault);
    this.#damaged = new Map(this.#index.damages().map((damage) => [damage.digest, damage]));
  }

  /** What earlier runs wrote down; none of it is held before `keep`. */
  remembered(): Map<string, HeldRecord> {
    return new Map(this.#index.all().map((record) => [record.digest, record]));
  }

  /** Holds what is in the index already. */
  keep(record: HeldRecord): void {
    this.#bytes += record.sizeBytes - (this.#held.get(record.digest)?.sizeBytes ?? 0);
    this.#held.set(record.digest, record);
  }

  /** Holds an artifact, whatever was damaged of it before. */
  record(record: HeldRecord): void {
    this.#index.put(record);
    this.keep(record);
    this.clearDamage(record.digest);
  }

  forget(digest: string): void {
    this.#bytes -= this.#held.get(digest)?.sizeBytes ?? 0;
    this.#held.delete(digest);
    this.#index.remove(digest);
  }

  /** The same for many: one flush for all of them. */
  forgetAll(digests: readonly string[]): void {
    if (digests.length === 0) return;
    this.#index.atomically(() => {
      for (const digest of digests) this.forget(digest);
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

  get damaged(): ReadonlyMap<string, Damage> {
    return this.#damaged;
  }

  close(): void {
    this.#index.close();
  }
}
