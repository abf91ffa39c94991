import { abortable } from '#base/abortable.ts';
import { type Clock, steadyClock, systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { peHeaderBytes } from '#base/pe.ts';
import { fromWireError, RailheadError } from '#contract/errors.ts';
import type { CachedImage, CacheImage } from '#contract/images.ts';
import { damageError, repullAfterMs } from './damage.ts';
import { pullChanges } from './desired.ts';
import { expel, withdrawnHere } from './expel.ts';
import type { Damage } from './heldIndex.ts';
import { inventoryOf } from './inventory.ts';
import { type CacheOperator, cacheOperator } from './operator.ts';
import type { Puller } from './puller.ts';
import { openPulls, type PullOptions, type Pulls } from './pulls.ts';
import type { Held } from './read.ts';
import { type CacheParts, digestsWithRow, rowOf } from './rows.ts';
import { type Scrub, type ScrubOptions, startScrub } from './scrub.ts';
import { type Section, sectionOf } from './section.ts';
import { Senders } from './senders.ts';
import { Store } from './store.ts';
import { Troubles } from './troubles.ts';
import { type LocalPin, Wishes } from './wishes.ts';
import { withdrawnError } from './withdrawn.ts';

export interface CacheOptions extends PullOptions {
  directory: string;
  /** The most that images may take on disk; what is desired, pinned or in use is never evicted to keep it. */
  quotaBytes: number;
  /** How what is held is read again; without it nothing is. */
  scrub?: ScrubOptions;
  /** Told of an image that was found damaged, after it was taken out. */
  onDamage?: (damage: Damage) => void;
  /** The ref of an image that lies here and that nobody wants, as far as it is known. */
  refOf?: (digest: string) => string | undefined;
  log: Log;
  /** The time of the day; default the system's. */
  clock?: Clock;
  /** For durations; default `clock`, where that is given. */
  steady?: Clock;
}

export type { Held } from './read.ts';
export type { Section } from './section.ts';

export interface ImageCache {
  /**
   * States which images should be here, and which digests are withdrawn; starts the pulls that are missing and returns at once.
   * What is withdrawn is not opened any more, transfers of it are cut off, and its bytes are removed. What is pinned is not pulled for
   * that, and stays if it is here.
   */
  desire(images: CacheImage[], withdrawn?: readonly string[], pinned?: readonly string[]): void;
  state(digest: string): CachedImage | undefined;
  /**
   * Resolves when the image is in the cache; waits for a running pull.
   * @throws the pull's RailheadError when it failed; NOT_FOUND for a digest that is neither held nor desired; INVALID_STATE,
   *   reason `withdrawn`
   */
  ready(digest: string, signal?: AbortSignal): Promise<void>;
  /** Undefined when the image is not ready here. */
  open(digest: string): Promise<Held | undefined>;
  /**
   * Where a unified kernel image keeps its kernel or initrd, by virtual size; undefined when not held or no
   * such section.
   */
  section(digest: string, name: 'linux' | 'initrd'): Promise<Section | undefined>;
  inventory(): { etag: string; images: CachedImage[] };
  /** States which images operators of the site have pinned: they stay, and come back when they are lost. */
  keep(pins: readonly LocalPin[]): void;
  /** Wants an image until it is here, or until `desire` withdraws it: for a deploy, or for an operator. */
  ask(image: CacheImage): void;
  /** What an operator at the site can do and see. */
  readonly operator: CacheOperator;
  /** Calls `listener` after every change of state; returns how to stop. */
  onChange(listener: () => void): () => void;
  /** Stops pulls and closes the index; what was half written is removed. */
  close(): Promise<void>;
}

/**
 * Opens the digest-verified image store in `directory`, which it creates. Images of earlier runs are ready at
 * once, those whose file and index disagree once they are hashed.
 */
export async function openCache(options: CacheOptions): Promise<ImageCache> {
  const { directory, quotaBytes, clock = systemClock, log } = options;
  const troubles = new Troubles(log);
  const told = { damage: (_: Damage) => {}, leave: () => {} };
  const store = await Store.open({
    directory,
    quotaBytes,
    clock,
    onFault: (error) => troubles.note(error, clock.now()),
    onDamage: (damage) => told.damage(damage),
    onLeave: () => told.leave(),
  });
  const cache = new DesiredCache(store, troubles, options);
  told.damage = (damage) => cache.takeDamage(damage);
  told.leave = () => cache.changed();
  cache.start();
  return cache;
}

/** Whoever asks for an image that must be hashed first waits so long, in milliseconds; then it is asked for again. */
const longestVerifyMs = 10_000;

class DesiredCache implements ImageCache {
  readonly operator: CacheOperator;
  readonly #store: Store;
  readonly #options: CacheOptions;
  readonly #clock: Clock;
  readonly #steady: Clock;
  readonly #log: Log;
  readonly #troubles: Troubles;
  readonly #pulls: Pulls;
  readonly #wishes = new Wishes();
  readonly #listeners = new Set<() => void>();
  readonly #senders = new Senders();
  /** Withdrawn, and being removed. */
  readonly #expelled = new Set<string>();
  readonly #stop = new AbortController();
  #scrub: Scrub | undefined;
  #damages = 0;
  /** It is known what is wanted: before, anything may be. */
  #isStated = false;
  /** Found damaged just now: not pulled before whoever counts on it was told. */
  readonly #resting = new Set<string>();
  #proving: Promise<void> = Promise.resolve();

  constructor(store: Store, troubles: Troubles, options: CacheOptions) {
    const { quotaBytes, clock = systemClock, log } = options;
    this.#store = store;
    this.#options = options;
    this.#clock = clock;
    this.#steady = options.steady ?? options.clock ?? steadyClock;
    this.#log = log;
    this.#troubles = troubles;
    const { isSpared } = this.#wishes;
    const onChange = () => this.changed();
    const clocks = { clock, steady: this.#steady };
    this.#pulls = openPulls(options, { store, ...clocks, quotaBytes, isSpared, onChange, log });
    this.operator = cacheOperator({
      ...this.#parts,
      troubles,
      damages: () => this.#damages,
      scrubbed: () => this.#scrub?.state,
      onChange: () => this.#converge(),
    });
  }

  /** Begins what goes on by itself: hashing what no record vouches for, reading again what is held. */
  start(): void {
    this.#proving = this.#proveAll();
    const { scrub } = this.#options;
    const onLost = (digest: string) => {
      if (this.#isLost(digest)) this.#recover(digest);
    };
    const onFault = (error: unknown) => this.#troubles.note(error, this.#clock.now());
    const parts = { clock: this.#clock, steady: this.#steady, log: this.#log, onFault, onLost };
    if (scrub !== undefined) this.#scrub = startScrub(this.#store, scrub, parts);
  }

  get #closed(): boolean {
    return this.#stop.signal.aborted;
  }

  get #puller(): Puller {
    return this.#pulls.puller;
  }

  get #parts(): CacheParts {
    const refOf = (digest: string) => this.#refOf(digest);
    return { wishes: this.#wishes, store: this.#store, puller: this.#puller, refOf };
  }

  #refOf(digest: string): string {
    return this.#wishes.wanted().get(digest)?.ref ?? this.#options.refOf?.(digest) ?? digest;
  }

  desire(images: CacheImage[], withdrawn: readonly string[] = [], pinned: readonly string[] = []): void {
    this.#isStated = true;
    this.#wishes.state(images, withdrawn, pinned);
    this.#converge();
    void this.#trim();
  }

  keep(pins: readonly LocalPin[]): void {
    this.#wishes.keep(pins);
    this.#converge();
  }

  ask(image: CacheImage): void {
    if (this.#store.get(image.digest) !== undefined) return;
    this.#wishes.ask(image);
    this.#converge();
  }

  state(digest: string): CachedImage | undefined {
    return rowOf(digest, this.#parts);
  }

  async ready(digest: string, signal?: AbortSignal): Promise<void> {
    if (this.#wishes.isWithdrawn(digest)) throw withdrawnError(digest);
    const refused = this.#wishes.refused(digest);
    if (refused?.error !== undefined) throw fromWireError(refused.error);
    if (this.#store.get(digest) !== undefined) return;
    if (this.#store.unproven.has(digest)) {
      await abortable(this.#proveAgain(digest), signal);
      if (this.#store.get(digest) !== undefined) return;
    }
    const wanted = this.#wishes.wanted().get(digest);
    // Of what was damaged: whoever waits for it does not wait for the pause as well.
    if (wanted !== undefined && this.#puller.get(digest) === undefined) this.#puller.begin(wanted);
    if (this.#puller.get(digest) !== undefined) return this.#puller.outcome(digest, signal);
    throw new RailheadError('NOT_FOUND', 'the site neither holds nor desires this image', { digest });
  }

  async open(digest: string): Promise<Held | undefined> {
    if (this.#wishes.refused(digest) !== undefined || this.#wishes.isWithdrawn(digest)) return undefined;
    const before = this.#store.get(digest);
    const held = (await this.#verified(digest)) ? await this.#store.openHeld(digest) : undefined;
    if (before !== undefined && this.#isLost(digest)) this.#recover(digest);
    return held && this.#senders.watched(digest, held, () => this.#wishes.isWithdrawn(digest));
  }

  async section(digest: string, name: 'linux' | 'initrd'): Promise<Section | undefined> {
    const held = await this.open(digest);
    try {
      return held && sectionOf(await held.head(peHeaderBytes), held.sizeBytes, `.${name}`);
    } finally {
      await held?.close();
    }
  }

  inventory(): { etag: string; images: CachedImage[] } {
    const digests = [...digestsWithRow(this.#parts)];
    return inventoryOf(digests.flatMap((digest) => rowOf(digest, this.#parts) ?? []));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#stop.abort();
    this.#listeners.clear();
    await Promise.all([this.#store.endHashing(), this.#pulls.close(), this.#scrub?.close(), this.#proving]);
    this.#store.close();
  }

  /** Its bytes were hashed since this process began: a disk may have lost what an earlier one wrote. Of what is not here there is nothing to hash. */
  async #verified(digest: string): Promise<boolean> {
    const isHeld = this.#store.get(digest) !== undefined;
    if (isHeld && this.#store.isVerified(digest)) return true;
    if (!isHeld && !this.#store.unproven.has(digest)) return false;
    const verified = isHeld ? this.#store.verify(digest) : this.#proveAgain(digest);
    const tooLong = this.#steady.sleep(longestVerifyMs, this.#stop.signal).then(() => false);
    return Promise.race([verified, tooLong]).catch((error) => {
      if (this.#closed) return false;
      throw error;
    });
  }

  /** Whether what was held is gone, and not because it was damaged: that is told apart. */
  #isLost(digest: string): boolean {
    return this.#store.get(digest) === undefined && this.#store.damage(digest) === undefined;
  }

  /** Takes note of an image that was found damaged; what is wanted is pulled anew after a pause. */
  takeDamage(damage: Damage): void {
    this.#log.error({ ...damage, err: damageError(damage) }, 'a held image is damaged; it is in quarantine');
    this.#damages++;
    this.#resting.add(damage.digest);
    this.#options.onDamage?.(damage);
    this.changed();
    this.#steady
      .sleep(repullAfterMs, this.#stop.signal)
      .then(() => {
        this.#resting.delete(damage.digest);
        this.#converge();
      })
      .catch(ignore);
  }

  #converge(): void {
    if (this.#closed) return;
    const held = new Set<string>();
    for (const { digest } of this.#store.held()) {
      held.add(digest);
      this.#wishes.answered(digest);
    }
    const { start, stop } = pullChanges(this.#wishes.wanted(), held, this.#puller.images());
    for (const digest of stop) void this.#puller.stop(digest);
    for (const image of start) if (!this.#resting.has(image.digest)) this.#puller.begin(image);
    this.#expelWithdrawn();
    this.changed();
  }

  /** A quota may be smaller than it was: what nobody wants goes. */
  async #trim(): Promise<void> {
    if (!this.#isStated) return;
    const { isSpared } = this.#wishes;
    for (const digest of this.#store.beyondQuota(isSpared))
      await this.#store
        .evict(digest, isSpared)
        .catch((error) => this.#log.warn({ digest, err: error }, 'not evicted'));
  }

  #expelWithdrawn(): void {
    const parts = { ...this.#parts, senders: this.#senders, log: this.#log };
    for (const digest of withdrawnHere(parts)) {
      if (this.#expelled.has(digest)) continue;
      this.#expelled.add(digest);
      void expel(digest, parts).finally(() => {
        this.#expelled.delete(digest);
        this.changed();
      });
    }
  }

  /** Hashes the files that no record vouches for. Those that are desired are hashed by their pull. */
  async #proveAll(): Promise<void> {
    for (const digest of [...this.#store.unproven.keys()]) {
      if (this.#closed) return;
      await this.#proveAgain(digest);
    }
    await this.#trim();
  }

  /**
   * The file of a held image changed or vanished behind our back: what is desired comes back by its pull, which
   * hashes what is there first.
   */
  #recover(digest: string): void {
    this.#log.warn({ digest }, 'the file of a held image changed');
    this.#converge();
    if (!this.#wishes.wanted().has(digest)) void this.#proveAgain(digest);
  }

  /** Whether it is held now. */
  async #proveAgain(digest: string): Promise<boolean> {
    try {
      const isHeld = await this.#store.prove(digest, this.#refOf(digest));
      this.#converge();
      return isHeld;
    } catch (error) {
      if (!this.#closed) this.#log.error({ digest, err: error }, 'a held image cannot be read');
      return false;
    }
  }

  /** Tells the listeners. */
  changed(): void {
    if (!this.#closed) for (const listener of this.#listeners) listener();
  }
}
