import { createHash, type Hash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '#base/durableFile.ts';
import { systemCode } from '#base/errors.ts';
import { digestMismatch } from './faults.ts';
import { GatheredWrites } from './gatheredWrites.ts';
import { artifactPath, type CachePaths } from './path.ts';
import { moveToQuarantine } from './quarantine.ts';
import { type FileStamp, stampOf } from './stamp.ts';

/** After so many bytes the disk is set to work: at the end it has little left to do, and the kernel holds no gigabytes that are not written. */
const flushEveryBytes = 64 * 1024 * 1024;

/**
 * An artifact on its way in: a temporary file that is hashed while it grows, and that becomes visible only
 * under the digest which it turned out to have. A crash at any point leaves at most a temporary, which the next
 * start removes.
 */
export class PartialArtifact {
  readonly #paths: CachePaths;
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #writes: GatheredWrites;
  #hash: Hash = createHash('sha256');
  #sizeBytes = 0;
  #flushedAt = 0;
  /** One at a time; what it fails with the kernel tells once, so it is kept. */
  #flushing: Promise<void> | undefined;
  #flushFault: unknown;

  private constructor(paths: CachePaths, file: string, handle: FileHandle) {
    this.#paths = paths;
    this.#file = file;
    this.#handle = handle;
    this.#writes = new GatheredWrites(handle);
  }

  static async create(paths: CachePaths): Promise<PartialArtifact> {
    await mkdir(paths.temporaries, { recursive: true });
    const file = path.join(paths.temporaries, randomBytes(12).toString('hex'));
    return new PartialArtifact(paths, file, await open(file, 'wx', 0o640));
  }

  /** Bytes that have come so far; the last of them are still in memory. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** sha256 of the bytes that have come so far, in lower-case hex. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Takes the next bytes, which must not change afterwards. @throws the file system's error, e.g. ENOSPC, also of earlier bytes */
  async append(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    this.#sizeBytes += chunk.length;
    await this.#writes.append(chunk);
    if (this.#sizeBytes - this.#flushedAt >= flushEveryBytes && this.#flushing === undefined) this.#flush();
  }

  /** Throws away what has arrived: the next byte is byte 0. */
  async restart(): Promise<void> {
    if (this.#sizeBytes === 0) return;
    await this.#writes.restart();
    await this.#handle.truncate(0);
    this.#hash = createHash('sha256');
    this.#sizeBytes = 0;
    this.#flushedAt = 0;
  }

  /**
   * Puts the bytes on stable storage, once they are known to be those of `digest`.
   * @throws RailheadError DRIVER_ERROR `digest-mismatch`
   */
  async flush(digest: string, facts: Record<string, unknown> = {}): Promise<void> {
    const found = this.digest();
    if (found !== digest) throw digestMismatch(digest, found, facts);
    await this.#writes.settle();
    await this.#flushing;
    if (this.#flushFault !== undefined) throw this.#flushFault;
    await this.#handle.sync();
  }

  /** Makes what was flushed visible under `digest`, on stable storage, and returns the stamp of the file that was written. */
  async publish(digest: string): Promise<FileStamp> {
    const { mtimeNs } = await this.#handle.stat({ bigint: true });
    const target = artifactPath(this.#paths, digest);
    await mkdir(path.dirname(target), { recursive: true });
    await rename(this.#file, target).catch(async (error) => {
      if (systemCode(error) !== 'EISDIR') throw error;
      await moveToQuarantine(this.#paths, digest);
      await rename(this.#file, target);
    });
    // A rename changes an inode's change time, and by the descriptor it is of this file, whatever lies under the name by now.
    const after = stampOf(await this.#handle.stat({ bigint: true }));
    await syncDirectory(path.dirname(target));
    await syncDirectory(this.#paths.artifacts);
    return { ...after, sizeBytes: this.#sizeBytes, mtimeNs };
  }

  #flush(): void {
    this.#flushedAt = this.#sizeBytes;
    this.#flushing = this.#handle
      .datasync()
      .catch((error: unknown) => {
        this.#flushFault ??= error;
      })
      .finally(() => {
        this.#flushing = undefined;
      });
  }

  /** Closes the file and removes the temporary; after `commit` there is none left. */
  async discard(): Promise<void> {
    await this.#writes.quiet();
    await this.#flushing;
    await this.#handle.close();
    await rm(this.#file, { force: true });
  }
}
