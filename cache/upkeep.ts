import type { Clock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { damageError, repullAfterMs } from './damage.ts';
import { pullChanges } from './desired.ts';
import { expel, withdrawnHere } from './expel.ts';
import type { Damage } from './heldIndex.ts';
import type { CacheParts } from './rows.ts';
import type { Senders } from './senders.ts';

export interface UpkeepParts extends CacheParts {
  senders: Senders;
  log: Log;
  /** For durations. */
  steady: Clock;
  /** Aborted when the cache is closed. */
  signal: AbortSignal;
  /** Something that can be seen from outside has changed. */
  onChange: () => void;
}

/** Whoever asks for an image that must be hashed first waits so long, in milliseconds; then it is asked for again. */
const longestVerifyMs = 10_000;

/** Brings what is here to what is wanted, whenever one of both has changed. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  /** Withdrawn, and being removed. */
  readonly #expelled = new Set<string>();
  /** Found damaged just now: not pulled before whoever counts on it was told. */
  readonly #resting = new Set<string>();

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  /** Begins the pulls that are missing, ends those that nobody wants any more, and removes what is withdrawn. Returns at once. */
  converge(): void {
    const { store, wishes, puller, signal, onChange } = this.#parts;
    if (signal.aborted) return;
    const held = new Set<string>();
    for (const { digest } of store.held()) {
      held.add(digest);
      wishes.answered(digest);
    }
    const { start, stop } = pullChanges(wishes.wanted(), held, puller.images());
    for (const digest of stop) void puller.stop(digest);
    for (const image of start) if (!this.#resting.has(image.digest)) puller.begin(image);
    this.#expelWithdrawn();
    onChange();
  }

  /** A quota may be smaller than it was: what nobody wants goes. Not to be called before it is known what is wanted. */
  async trim(): Promise<void> {
    const { store, wishes, log } = this.#parts;
    for (const digest of store.beyondQuota(wishes.isSpared))
      await store
        .evict(digest, wishes.isSpared)
        .catch((error) => log.warn({ digest, err: error }, 'not evicted'));
  }

  /** Hashes the files that no record vouches for, one after the other. Those that are desired are hashed by their pull. */
  async proveAll(): Promise<void> {
    const { store, signal } = this.#parts;
    for (const digest of [...store.unproven.keys()]) if (!signal.aborted) await this.prove(digest);
  }

  /** Hashes a file that no record vouches for; whether it is held now. */
  async prove(digest: string): Promise<boolean> {
    const { store, refOf, log, signal } = this.#parts;
    try {
      const isHeld = await store.prove(digest, refOf(digest));
      this.converge();
      return isHeld;
    } catch (error) {
      if (!signal.aborted) log.error({ digest, err: error }, 'a held image cannot be read');
      return false;
    }
  }

  /**
   * Whether the bytes of an image were hashed since this process began: a disk may have lost what an earlier one wrote. If not they are now, and
   * who asks waits, but not for long. Of what is not here there is nothing to hash.
   */
  async isHashed(digest: string): Promise<boolean> {
    const { store, steady, signal } = this.#parts;
    const isHeld = store.get(digest) !== undefined;
    if (isHeld && store.isVerified(digest)) return true;
    if (!isHeld && !store.unproven.has(digest)) return false;
    const hashed = isHeld ? store.verify(digest) : this.prove(digest);
    const tooLong = steady.sleep(longestVerifyMs, signal).then(() => false);
    return Promise.race([hashed, tooLong]).catch((error) => {
      if (signal.aborted) return false;
      throw error;
    });
  }

  /** Says what became of an image that was found damaged; what is wanted is pulled anew after a pause. */
  takeDamage(damage: Damage): void {
    const { log, steady, signal, onChange } = this.#parts;
    log.error({ ...damage, err: damageError(damage) }, 'a held image is damaged; it is in quarantine');
    this.#resting.add(damage.digest);
    onChange();
    steady
      .sleep(repullAfterMs, signal)
      .then(() => {
        this.#resting.delete(damage.digest);
        this.converge();
      })
      .catch(ignore);
  }

  /**
   * The file of an image that was held changed or vanished behind our back: what is desired comes back by its pull, which hashes what is there
   * first. Of what was damaged nothing: that is told apart.
   */
  recover(digest: string): void {
    const { store, wishes, log } = this.#parts;
    if (store.get(digest) !== undefined || store.damage(digest) !== undefined) return;
    log.warn({ digest }, 'the file of a held image changed');
    this.converge();
    if (!wishes.wanted().has(digest)) void this.prove(digest);
  }

  #expelWithdrawn(): void {
    for (const digest of withdrawnHere(this.#parts)) {
      if (this.#expelled.has(digest)) continue;
      this.#expelled.add(digest);
      void expel(digest, this.#parts).finally(() => {
        this.#expelled.delete(digest);
        this.#parts.onChange();
      });
    }
  }
}
