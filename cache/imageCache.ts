import { type Clock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { peHeaderBytes } from '#base/pe.ts';
import { fromWireError, RailheadError } from '#contract/errors.ts';
import type { CachedImage, CacheImage } from '#contract/images.ts';
import { pullChanges } from './desired.ts';
import { inventoryOf } from './inventory.ts';
import type { Puller } from './puller.ts';
import { openPulls, type PullOptions, type Pulls } from './pulls.ts';
import type { Held } from './read.ts';
import { digestsWithRow, rowOf } from './rows.ts';
import { type Section, sectionOf } from './section.ts';
import { Senders } from './senders.ts';
import { Store } from './store.ts';
import { Wishes } from './wishes.ts';
import { withdrawnError, withdrawnRow } from './withdrawn.ts';

export interface CacheOptions extends PullOptions {
  directory: string;
  /** The most that images may take on disk; what is desired, pinned or in use is never evicted to keep it. */
  quotaBytes: number;
  log: Log;
  clock?: Clock;
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
  const store = await Store.open(options.directory, options.quotaBytes, options.clock ?? systemClock);
  return new DesiredCache(store, options);
}

class DesiredCache implements ImageCache {
  readonly #store: Store;
  readonly #log: Log;
  readonly #pulls: Pulls;
  readonly #wishes = new Wishes();
  readonly #listeners = new Set<() => void>();
  readonly #proving: Promise<void>;
  readonly #senders = new Senders();
  #closed = false;

  constructor(store: Store, options: CacheOptions) {
    const { quotaBytes, clock = systemClock, log } = options;
    this.#store = store;
    this.#log = log;
    const spared = () => this.#wishes.spared();
    const onChange = () => this.#changed();
    this.#pulls = openPulls(options, { store, clock, quotaBytes, spared, onChange, log });
    this.#proving = this.#proveAll();
  }

  get #puller(): Puller {
    return this.#pulls.puller;
  }

  get #parts() {
    return { wishes: this.#wishes, store: this.#store, puller: this.#puller };
  }

  desire(images: CacheImage[], withdrawn: readonly string[] = [], pinned: readonly string[] = []): void {
    this.#wishes.state(images, withdrawn, pinned);
    this.#converge();
    this.#expelWithdrawn();
    this.#changed();
  }

  state(digest: string): CachedImage | undefined {
    return this.#wishes.isWithdrawn(digest) ? withdrawnRow(digest) : rowOf(digest, this.#parts);
  }

  async ready(digest: string, signal?: AbortSignal): Promise<void> {
    if (this.#wishes.isWithdrawn(digest)) throw withdrawnError(digest);
    const refused = this.#wishes.refused(digest);
    if (refused?.error !== undefined) throw fromWireError(refused.error);
    if (this.#store.get(digest) !== undefined) return;
    if (this.#puller.get(digest) !== undefined) return this.#puller.outcome(digest, signal);
    throw new RailheadError('NOT_FOUND', 'the site neither holds nor desires this image', { digest });
  }

  async open(digest: string): Promise<Held | undefined> {
    if (this.#wishes.refused(digest) !== undefined || this.#wishes.isWithdrawn(digest)) return undefined;
    const before = this.#store.get(digest);
    const held = await this.#store.openHeld(digest);
    if (held === undefined && before !== undefined) this.#recover(digest);
    return held && this.#senders.watched(digest, held);
  }

  async section(digest: string, name: 'linux' | 'initrd'): Promise<Section | undefined> {
    const held = await this.open(digest);
    try {
      return held && sectionOf(await held.head(peHeaderBytes), `.${name}`);
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
    this.#closed = true;
    this.#listeners.clear();
    await this.#pulls.close();
    await this.#proving;
    this.#store.close();
  }

  #converge(): void {
    const held = new Set(this.#store.held().map((one) => one.digest));
    const { start, stop } = pullChanges(this.#wishes.wanted(), held, this.#puller.images());
    for (const digest of stop) void this.#puller.stop(digest);
    for (const image of start) this.#puller.begin(image);
  }

  #expelWithdrawn(): void {
    const here = [...this.#store.held().map((held) => held.digest), ...this.#store.unproven()];
    for (const digest of new Set([...here, ...this.#puller.images().keys()]))
      if (this.#wishes.isWithdrawn(digest)) void this.#expel(digest);
  }

  async #expel(digest: string): Promise<void> {
    this.#senders.cutOff(digest, withdrawnError(digest));
    try {
      await this.#puller.stop(digest);
      await this.#store.expel(digest);
      this.#log.warn({ digest }, 'a withdrawn image was removed');
    } catch (error) {
      this.#log.error(
        { digest, err: error },
        'a withdrawn image cannot be removed; it is not served all the same',
      );
    }
    this.#changed();
  }

  /** Hashes the files that no record vouches for. Those that are desired are hashed by their pull. */
  async #proveAll(): Promise<void> {
    for (const digest of this.#store.unproven()) {
      if (this.#closed) return;
      await this.#proveAgain(digest);
    }
  }

  /**
   * The file of a held image changed or vanished behind our back: what is desired comes back by its pull, which
   * hashes what is there first.
   */
  #recover(digest: string): void {
    this.#log.warn({ digest }, 'the file of a held image changed');
    this.#converge();
    this.#changed();
    if (!this.#wishes.wanted().has(digest)) void this.#proveAgain(digest);
  }

  async #proveAgain(digest: string): Promise<void> {
    try {
      const ref = this.#wishes.wanted().get(digest)?.ref ?? digest;
      if (!(await this.#store.prove(digest, ref)))
        this.#log.warn({ digest }, 'a file had other bytes than its name says');
      this.#converge();
      this.#expelWithdrawn();
      this.#changed();
    } catch (error) {
      this.#log.error({ digest, err: error }, 'a held image cannot be read');
    }
  }

  #changed(): void {
    if (!this.#closed) for (const listener of this.#listeners) listener();
  }
}
