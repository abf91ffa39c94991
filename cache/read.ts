import { type FileHandle, open } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { sendRange } from './send.ts';

const readSize = 256 * 1024;

/** An open artifact whose digest holds. It is not evicted before `close`. */
export interface Held {
  readonly sizeBytes: number;
  /** The bytes from `start` up to, not including, `endExclusive`. */
  stream(start: number, endExclusive: number): Readable;
  /**
   * The same bytes into `target`, which is not ended: in constant memory and faster than a stream. @throws when
   * `target` closes before the end
   */
  sendTo(target: Writable, start: number, endExclusive: number): Promise<void>;
  close(): Promise<void>;
}

/** What tells one state of a file from another without reading it. */
export interface FileStamp {
  sizeBytes: number;
  mtimeNs: bigint;
}

export async function openArtifact(file: string): Promise<{ handle: FileHandle; stamp: FileStamp }> {
  const handle = await open(file, 'r');
  const { size, mtimeNs } = await handle.stat({ bigint: true });
  return { handle, stamp: { sizeBytes: Number(size), mtimeNs } };
}

export function sameStamp(one: FileStamp, other: FileStamp): boolean {
  return one.sizeBytes === other.sizeBytes && one.mtimeNs === other.mtimeNs;
}

/** An open artifact; `onClose` is called once. */
export function heldOf(handle: FileHandle, sizeBytes: number, onClose: () => void): Held {
  let closing: Promise<void> | undefined;
  const close = async () => {
    onClose();
    await handle.close();
  };
  return {
    sizeBytes,
    stream: (start, endExclusive) =>
      Readable.from(readRange(handle, start, endExclusive), { objectMode: false }),
    sendTo: (target, start, endExclusive) => sendRange(handle, target, start, endExclusive),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Reads by position, so that any number of ranges may be read from one open file at a time. */
async function* readRange(handle: FileHandle, start: number, endExclusive: number): AsyncGenerator<Buffer> {
  for (let position = start; position < endExclusive; ) {
    const length = Math.min(readSize, endExclusive - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) throw new RangeError(`the artifact ended at byte ${position} of ${endExclusive}`);
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
