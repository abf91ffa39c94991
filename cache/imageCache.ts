import type { Agent } from 'undici';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { peHeaderBytes } from '#base/pe.ts';
import { fromWireError, RailheadError, toWireError } from '#contract/errors.ts';
import type { CachedImage, CacheImage } from '#contract/images.ts';
import { pullChanges } from './desired.ts';
import { inventoryOf, pullRow, readyRow } from './inventory.ts';
import { type SourceTimeouts, sourceAgent } from './pull/source.ts';
import { Puller } from './puller.ts';
import { pullImage } from './pullImage.ts';
import type { Held } from './read.ts';
import { type Section, sectionOf } from './section.ts';
import { Senders } from './senders.ts';
import { Store } from './store.ts';
import { checkSignature } from './verify.ts';
import { withdrawnError, withdrawnRow } from './withdrawn.ts';

export interface CacheOptions {
  directory: string;
  /** The most that images may take on disk; what is desired, pinned or in use is never evicted to keep it. */
  quotaBytes: number;
  /** PEM of a CA that the image sources' certificates may be issued by, beside the system's. */
  sourceCa?: string;
  /** Downloads at a time; default 2. */
  parallelPulls?: number;
  /** Default: 10 s to connect, 30 s of silence. */
  timeouts?: SourceTimeouts;
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

const defaultTimeouts: SourceTimeouts = { connectMs: 10_000, idleMs: 30_000 };

class DesiredCache implements ImageCache {
  readonly #store: Store;
  readonly #log: Log;
  readonly #puller: Puller;
  readonly #sources: Agent;
  readonly #listeners = new Set<() => void>();
  readonly #proving: Promise<void>;
  #desired = new Map<string, CacheImage>();
  #refused = new Map<string, CachedImage>();
  #withdrawn: ReadonlySet<string> = new Set();
  #pinned: readonly string[] = [];
  readonly #senders = new Senders();
  #closed = false;

  constructor(store: Store, options: CacheOptions) {
    const { quotaBytes, clock = systemClock, parallelPulls = 2 } = options;
    this.#store = store;
    this.#log = options.log;
    this.#sources = sourceAgent(options.sourceCa, options.timeouts ?? defaultTimeouts);
    const context = {
      store,
      clock,
      quotaBytes,
      dispatcher: this.#sources,
      spared: () => new Set([...this.#desired.keys(), ...this.#pinned]),
    };
    this.#puller = new Puller({
      pullOnce: (image, onReceived, signal) => pullImage(image, { ...context, onReceived, signal }),
      parallelPulls,
      clock,
      onChange: () => this.#changed(),
      onFailure: (image, error, nextTryAt) => this.#logFailure(image, error, nextTryAt),
    });
    this.#proving = this.#proveAll();
  }

  desire(images: CacheImage[], withdrawn: readonly string[] = [], pinned: readonly string[] = []): void {
    this.#pinned = pinned;
    this.#withdrawn = new Set(withdrawn);
    const usable = images.filter(({ digest }) => !this.#withdrawn.has(digest));
    this.#desired = new Map(usable.map((image) => [image.digest, image]));
    this.#refused = new Map(usable.flatMap((image) => refusal(image)).map((row) => [row.digest, row]));
    for (const digest of this.#refused.keys()) this.#desired.delete(digest);
    this.#converge();
    this.#expelWithdrawn();
    this.#changed();
  }

  state(digest: string): CachedImage | undefined {
    return this.#withdrawn.has(digest) ? withdrawnRow(digest) : this.#row(digest);
  }

  #row(digest: string): CachedImage | undefined {
    const refused = this.#refused.get(digest);
    if (refused !== undefined) return refused;
    const held = this.#store.get(digest);
    if (held !== undefined) return readyRow({ ...held, ref: this.#desired.get(digest)?.ref ?? held.ref });
    const pull = this.#puller.get(digest);
    if (pull !== undefined) return pullRow({ ...pull, image: this.#desired.get(digest) ?? pull.image });
    const leaving = this.#store.evicting.get(digest);
    return leaving && readyRow(leaving, 'evicting');
  }

  async ready(digest: string, signal?: AbortSignal): Promise<void> {
    if (this.#withdrawn.has(digest)) throw withdrawnError(digest);
    const refused = this.#refused.get(digest);
    if (refused?.error !== undefined) throw fromWireError(refused.error);
    if (this.#store.get(digest) !== undefined) return;
    if (this.#puller.get(digest) !== undefined) return this.#puller.outcome(digest, signal);
    throw new RailheadError('NOT_FOUND', 'the site neither holds nor desires this image', { digest });
  }

  async open(digest: string): Promise<Held | undefined> {
    if (this.#refused.has(digest) || this.#withdrawn.has(digest)) return undefined;
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
    const digests = new Set([
      ...this.#refused.keys(),
      ...this.#store.held().map((held) => held.digest),
      ...this.#puller.images().keys(),
      ...this.#store.evicting.keys(),
    ]);
    return inventoryOf([...digests].flatMap((digest) => this.#row(digest) ?? []));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#listeners.clear();
    await this.#puller.close();
    await this.#proving;
    await this.#sources.destroy();
    this.#store.close();
  }

  #converge(): void {
    const held = new Set(this.#store.held().map((one) => one.digest));
    const { start, stop } = pullChanges(this.#desired, held, this.#puller.images());
    for (const digest of stop) void this.#puller.stop(digest);
    for (const image of start) this.#puller.begin(image);
  }

  #expelWithdrawn(): void {
    const here = [...this.#store.held().map((held) => held.digest), ...this.#store.unproven()];
    for (const digest of new Set([...here, ...this.#puller.images().keys()]))
      if (this.#withdrawn.has(digest)) void this.#expel(digest);
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
    if (!this.#desired.has(digest)) void this.#proveAgain(digest);
  }

  async #proveAgain(digest: string): Promise<void> {
    try {
      const ref = this.#desired.get(digest)?.ref ?? digest;
      if (!(await this.#store.prove(digest, ref)))
        this.#log.warn({ digest }, 'a file had other bytes than its name says');
      this.#converge();
      this.#expelWithdrawn();
      this.#changed();
    } catch (error) {
      this.#log.error({ digest, err: error }, 'a held image cannot be read');
    }
  }

  #logFailure(image: CacheImage, error: Error, nextTryAt: number | undefined): void {
    const { ref, digest } = image;
    this.#log.warn({ ref, digest, err: error, nextTryAt }, 'an image could not be pulled');
  }

  #changed(): void {
    if (!this.#closed) for (const listener of this.#listeners) listener();
  }
}

/** The row of an image that may not come in because nobody vouches for it. */
function refusal(image: CacheImage): CachedImage[] {
  try {
    checkSignature(image);
    return [];
  } catch (error) {
    return [{ digest: image.digest, ref: image.ref, state: 'failed', error: toWireError(error) }];
  }
}
