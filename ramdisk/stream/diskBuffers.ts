import { alignedBuffer } from '#base/libc.ts';
import type { Target } from '../disks/target.ts';

const bufferBytes = 2 * 1024 * 1024;
const bufferCount = 4;
const zeros = Buffer.alloc(bufferBytes);

/** Bytes on their way to a disk, from an offset on: fills buffers in turn and has up to `bufferCount` of them under way. */
export class DiskBuffers {
  readonly #target: Pick<Target, 'write' | 'zero'>;
  readonly #free = Array.from({ length: bufferCount }, () => alignedBuffer(bufferBytes));
  readonly #underWay = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;
  #current: Buffer | undefined;
  /** Bytes in the current buffer. */
  #filled = 0;
  /** Where the current buffer goes. */
  #offset: number;

  constructor(target: Pick<Target, 'write' | 'zero'>, offset: number) {
    this.#target = target;
    this.#offset = offset;
  }

  /** Copies the bytes. @throws what a write before failed with */
  async append(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      this.#current ??= await this.#nextBuffer();
      const copied = bytes.copy(this.#current, this.#filled, done);
      done += copied;
      this.#filled += copied;
      if (this.#filled === this.#current.length) this.#submit(this.#current, this.#filled);
    }
  }

  /**
   * Writes out what is left and waits until the disk has taken all. The last partial sector is padded with zeros: a disk takes whole sectors
   * only.
   * @throws what a write failed with
   */
  async flush(sectorSize: number): Promise<void> {
    if (this.#current !== undefined) {
      const padded = Math.ceil(this.#filled / sectorSize) * sectorSize;
      this.#current.fill(0, this.#filled, padded);
      this.#submit(this.#current, padded);
    }
    await this.settled();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Waits until no write is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #nextBuffer(): Promise<Buffer> {
    while (this.#free.length === 0) await Promise.race(this.#underWay);
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#free.pop() as Buffer;
  }

  #submit(buffer: Buffer, length: number): void {
    const job = this.#put(buffer.subarray(0, length))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#underWay.delete(job);
        this.#free.push(buffer);
      });
    this.#underWay.add(job);
    this.#current = undefined;
    this.#filled = 0;
    this.#offset += length;
  }

  #put(bytes: Buffer): Promise<void> {
    const isZero = bytes.equals(zeros.subarray(0, bytes.length));
    return isZero ? this.#target.zero(this.#offset, bytes.length) : this.#target.write(bytes, this.#offset);
  }
}
