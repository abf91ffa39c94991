import { unlink } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { removalFault } from './diskFaults.ts';
import type { HeldRecord } from './heldIndex.ts';
import { artifactPath } from './path.ts';
import type { Shelf } from './shelf.ts';

/** Removes artifacts. */
export class Eviction {
  readonly #shelf: Shelf;
  readonly #leaving = new Map<string, HeldRecord>();

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  /** What is being removed now. */
  get leaving(): ReadonlyMap<string, HeldRecord> {
    return this.#leaving;
  }

  /**
   * Removes an artifact unless `stays` says no right before: it may have been pinned, or opened, since it was chosen. Whether it is not held
   * any more. Who has it open reads on to the end of the file.
   * @throws RailheadError DRIVER_ERROR, reason `cache-disk`, when the disk keeps the file; it is held as before
   */
  evict(digest: string, stays: (digest: string) => boolean): Promise<boolean> {
    const { holdings, locks } = this.#shelf;
    return locks.run(digest, async () => {
      const record = holdings.get(digest);
      if (record === undefined) return true;
      if (stays(digest)) return false;
      await this.#leave(record);
      return true;
    });
  }

  /**
   * Removes whatever lies under a digest's name, also a file that was never hashed, and forgets what was damaged of it.
   * @throws as `evict`
   */
  expel(digest: string): Promise<void> {
    const { holdings, locks } = this.#shelf;
    return locks.run(digest, async () => {
      const record = holdings.get(digest);
      if (record !== undefined) await this.#leave(record);
      else if (holdings.unproven.has(digest)) await this.#unlink(digest);
      holdings.forget(digest);
      holdings.clearDamage(digest);
    });
  }

  async #leave(record: HeldRecord): Promise<void> {
    const { holdings, onLeave } = this.#shelf;
    const { digest } = record;
    this.#leaving.set(digest, record);
    holdings.forget(digest);
    onLeave();
    try {
      await this.#unlink(digest);
    } catch (error) {
      // The file is what it was.
      holdings.note(record);
      throw error;
    } finally {
      this.#leaving.delete(digest);
      onLeave();
    }
  }

  async #unlink(digest: string): Promise<void> {
    const { paths, onFault } = this.#shelf;
    const file = artifactPath(paths, digest);
    try {
      await unlink(file);
    } catch (error) {
      if (isENOENT(error)) return;
      const fault = removalFault(digest, error);
      onFault(fault);
      throw fault;
    }
    await syncDirectory(path.dirname(file)).catch(onFault);
  }
}
