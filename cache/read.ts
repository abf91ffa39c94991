import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { sendRange } from './send.ts';

/** An open artifact whose digest holds. It is not evicted before `close`. */
export interface Held {
  readonly sizeBytes: number;
  /** The first bytes, fewer than `length` where the artifact is shorter. */
  head(length: number): Promise<Buffer>;
  /**
   * The bytes from `start` up to, not including, `endExclusive` into `target`, which is not ended: in constant memory.
   * @throws when `target` closes before the end
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
    head: (length) => readHead(handle, Math.min(length, sizeBytes)),
    sendTo: (target, start, endExclusive) => sendRange(handle, target, start, endExclusive),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function readHead(handle: FileHandle, length: number): Promise<Buffer> {
  const head = Buffer.allocUnsafe(length);
  for (let position = 0; position < length; ) {
    const { bytesRead } = await handle.read(head, position, length - position, position);
    if (bytesRead === 0) throw new RangeError(`the artifact ended at byte ${position} of ${length}`);
    position += bytesRead;
  }
  return head;
}
