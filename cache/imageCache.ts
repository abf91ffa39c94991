import type { Readable } from 'node:stream';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import type { CachedImage, CacheImage } from '#contract/images.ts';

export interface CacheOptions {
  directory: string;
  /** The most that images may take on disk; what is desired or in use is never evicted to keep it. */
  quotaBytes: number;
  /** PEM of a CA that the image sources' certificates may be issued by, beside the system's. */
  sourceCa?: string;
  /** Downloads at a time; default 2. */
  parallelPulls?: number;
  log: Log;
  clock?: Clock;
}

/** An open artifact whose digest holds. It is not evicted before `close`. */
export interface Held {
  readonly sizeBytes: number;
  /** The bytes from `start` up to, not including, `endExclusive`. */
  stream(start: number, endExclusive: number): Readable;
  close(): Promise<void>;
}

export interface Section {
  offset: number;
  sizeBytes: number;
}

export interface ImageCache {
  /** States which images should be here; starts the pulls that are missing and returns at once. */
  desire(images: CacheImage[]): void;
  state(digest: string): CachedImage | undefined;
  /**
   * Resolves when the image is in the cache; waits for a running pull.
   * @throws the pull's RailheadError when it failed; NOT_FOUND for a digest that is neither held nor desired
   */
  ready(digest: string, signal?: AbortSignal): Promise<void>;
  /** Undefined when the image is not ready here. */
  open(digest: string): Promise<Held | undefined>;
  /** Where a unified kernel image keeps its kernel or initrd, by virtual size; undefined when not held or no such section. */
  section(digest: string, name: 'linux' | 'initrd'): Promise<Section | undefined>;
  inventory(): { etag: string; images: CachedImage[] };
  /** Calls `listener` after every change of state; returns how to stop. */
  onChange(listener: () => void): () => void;
  /** Stops pulls and closes the index; what was half written is removed. */
  close(): Promise<void>;
}

/** Opens the digest-verified image store in `directory`, which it creates. */
export function openCache(options: CacheOptions): Promise<ImageCache> {
  throw new RailheadError('UNSUPPORTED', `the cache in ${options.directory} is not built yet`);
}
