import type { FileHandle } from 'node:fs/promises';

/** A piece costs a passage to the disk's threads and back: as a TLS record's 16 KiB, that is most of what a pull takes. */
const pieceBytes = 1024 * 1024;
/** Small ones are a buffer each to the kernel; so many go in one call. */
const pieceChunks = 512;

/**
 * Appends to a file in large pieces: one is on its way to the disk while the next is gathered. What a write fails with is what the next call
 * that has to wait for it fails with, and every one after that.
 */
export class GatheredWrites {
  readonly #handle: Pick<FileHandle, 'writev'>;
  #chunks: Uint8Array[] = [];
  #gatheredBytes = 0;
  /** Where the next piece goes. */
  #position = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(handle: Pick<FileHandle, 'writev'>) {
    this.#handle = handle;
  }

  /** Takes a chunk, which must not change afterwards. @throws the file system's error, e.g. ENOSPC, also of an earlier chunk */
  async append(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk);
    this.#gatheredBytes += chunk.length;
    if (this.#gatheredBytes < pieceBytes && this.#chunks.length < pieceChunks) return;
    await this.#writing;
    this.#write();
  }

  /** Until all that was appended is written. @throws the file system's error */
  async settle(): Promise<void> {
    await this.#writing;
    this.#write();
    await this.#writing;
  }

  /** Forgets what is gathered: the next chunk goes to the start of the file. @throws the file system's error of an earlier chunk */
  async restart(): Promise<void> {
    this.#chunks = [];
    this.#gatheredBytes = 0;
    await this.#writing;
    this.#position = 0;
  }

  /** Until nothing is on its way, however it ended. */
  async quiet(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  #write(): void {
    const chunks = this.#chunks;
    const position = this.#position;
    this.#chunks = [];
    this.#position += this.#gatheredBytes;
    this.#gatheredBytes = 0;
    this.#writing = writeFully(this.#handle, chunks, position);
    // Told to whoever waits for it next.
    this.#writing.catch(() => {});
  }
}

/** writev(2) may write less than it was given. */
export async function writeFully(
  handle: Pick<FileHandle, 'writev'>,
  chunks: readonly Uint8Array[],
  position: number,
): Promise<void> {
  let left = chunks.filter(({ length }) => length > 0);
  for (let at = position; left.length > 0; ) {
    const { bytesWritten } = await handle.writev(left, at);
    if (bytesWritten === 0) throw new Error('the file takes no more bytes');
    at += bytesWritten;
    left = after(left, bytesWritten);
  }
}

/** What is left of the chunks after their first bytes. */
function after(chunks: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes;
  const first = chunks.findIndex((chunk) => {
    if (chunk.length > skip) return true;
    skip -= chunk.length;
    return false;
  });
  if (first === -1) return [];
  const [cut, ...rest] = chunks.slice(first);
  return cut === undefined ? [] : [cut.subarray(skip), ...rest];
}
