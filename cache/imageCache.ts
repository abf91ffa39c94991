import { abortable } from '#base/abortable.ts';
import { type Clock, steadyClock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { peHeaderBytes } from '#base/pe.ts';
import { fromWireError, RailheadError } from '#contract/errors.ts';
import type { CachedImage, CacheImage } from '#contract/images.ts';
import type { Damage } from './heldIndex.ts';
import { inventoryOf } from './inventory.ts';
import { type CacheOperator, cacheOperator } from './operator.ts';
import { openPulls, type PullOptions, type Pulls } from './pulls.ts';
import type { Held } from './read.ts';
import { type CacheParts, digestsWithRow, rowOf } from './rows.ts';
import { type Scrub, type ScrubOptions, startScrub } from './scrub.ts';
import { type Section, sectionOf } from './section.ts';
import { Senders } from './senders.ts';
import { Store } from './store.ts';
import { Troubles } from './troubles.ts';
import { Upkeep } from './upkeep.ts';
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
  const onFault = (error: unknown) => troubles.note(error, clock.now());
  const store = await Store.open({
    directory,
    quotaBytes,
    clock,
    onFault,
    onDamage: (damage) => told.damage(damage),
    onLeave: () => told.leave(),
  });
  const cache = new DesiredCache(store, troubles, options);
  told.damage = (damage) => cache.takeDamage(damage);
  told.leave = () => cache.changed();
  cache.start(onFault);
  return cache;
}

class DesiredCache implements ImageCache {
  readonly operator: CacheOperator;
  readonly #store: Store;
  readonly #options: CacheOptions;
  readonly #pulls: Pulls;
  readonly #wishes = new Wishes();
  readonly #parts: CacheParts;
  readonly #upkeep: Upkeep;
  readonly #listeners = new Set<() => void>();
  readonly #senders = new Senders();
  readonly #stop = new AbortController();
  #scrub: Scrub | undefined;
  #damages = 0;
  /** It is known what is wanted: before, anything may be. */
  #isStated = false;
  #proving: Promise<void> = Promise.resolve();

  constructor(store: Store, troubles: Troubles, options: CacheOptions) {
    const { quotaBytes, clock = systemClock, log } = options;
    this.#store = store;
    this.#options = options;
    const steady = options.steady ?? options.clock ?? steadyClock;
    const { isSpared } = this.#wishes;
    const onChange = () => this.changed();
    const common = { log, steady, onChange };
    this.#pulls = openPulls(options, { store, clock, quotaBytes, isSpared, ...common });
    const refOf = (digest: string) =>
      this.#wishes.wanted().get(digest)?.ref ?? options.refOf?.(digest) ?? digest;
    this.#parts = { wishes: this.#wishes, store, puller: this.#pulls.puller, refOf };
    const { signal } = this.#stop;
    this.#upkeep = new Upkeep({ ...this.#parts, ...common, senders: this.#senders, signal });
    this.operator = cacheOperator({
      ...this.#parts,
      troubles,
      damages: () => this.#damages,
      scrubbed: () => this.#scrub?.state,
      onChange: () => this.#upkeep.converge(),
    });
  }

  /** Begins what goes on by itself: hashing what no record vouches for, reading again what is held. */
  start(onFault: (error: unknown) => void): void {
    this.#proving = this.#upkeep.proveAll().then(() => this.#trim());
    const { scrub, clock = systemClock, steady = this.#options.clock ?? steadyClock, log } = this.#options;
    const onLost = (digest: string) => this.#upkeep.recover(digest);
    const parts = { clock, steady, log, onFault, onLost };
    if (scrub !== undefined) this.#scrub = startScrub(this.#store, scrub, parts);
  }

  desire(images: CacheImage[], withdrawn: readonly string[] = [], pinned: readonly string[] = []): void {
    this.#isStated = true;
    this.#wishes.state(images, withdrawn, pinned);
    this.#upkeep.converge();
    void this.#trim();
  }

  keep(pins: readonly LocalPin[]): void {
    this.#wishes.keep(pins);
    this.#upkeep.converge();
  }

  ask(image: CacheImage): void {
    if (this.#store.get(image.digest) !== undefined) return;
    this.#wishes.ask(image);
    this.#upkeep.converge();
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
      await abortable(this.#upkeep.prove(digest), signal);
      if (this.#store.get(digest) !== undefined) return;
    }
    const wanted = this.#wishes.wanted().get(digest);
    // Of what was damaged: whoever waits for it does not wait for the pause as well.
    if (wanted !== undefined && this.#pulls.puller.get(digest) === undefined)
      this.#pulls.puller.begin(wanted);
    if (this.#pulls.puller.get(digest) !== undefined) return this.#pulls.puller.outcome(digest, signal);
    throw new RailheadError('NOT_FOUND', 'the site neither holds nor desires this image', { digest });
  }

  async open(digest: string): Promise<Held | undefined> {
    if (this.#wishes.refused(digest) !== undefined || this.#wishes.isWithdrawn(digest)) return undefined;
    const before = this.#store.get(digest);
    const held = (await this.#upkeep.isHashed(digest)) ? await this.#store.openHeld(digest) : undefined;
    if (before !== undefined) this.#upkeep.recover(digest);
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
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#listeners.clear();
    await Promise.all([this.#store.endHashing(), this.#pulls.close(), this.#scrub?.close(), this.#proving]);
    this.#store.close();
  }

  /** Takes note of an image that was found damaged. */
  takeDamage(damage: Damage): void {
    this.#damages++;
    this.#options.onDamage?.(damage);
    this.#upkeep.takeDamage(damage);
  }

  /** Tells the listeners. */
  changed(): void {
    if (!this.#stop.signal.aborted) for (const listener of this.#listeners) listener();
  }

  async #trim(): Promise<void> {
    if (this.#isStated) await this.#upkeep.trim();
  }
}
