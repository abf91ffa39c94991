import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { systemCode } from '#base/errors.ts';
import { isUnreadable } from './diskFaults.ts';
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

export interface HeldHooks {
  /** Called once. */
  onClose: () => void;
  /** The disk did not give back what it has, `code` being the system's error: the bytes are no good to anybody else either. */
  onFault: (code: string) => void;
}

export function heldOf(handle: FileHandle, sizeBytes: number, { onClose, onFault }: HeldHooks): Held {
  let closing: Promise<void> | undefined;
  const close = async () => {
    onClose();
    await handle.close();
  };
  const watched = async <Result>(reading: Promise<Result>): Promise<Result> => {
    try {
      return await reading;
    } catch (error) {
      const code = readFault(error);
      if (code !== undefined) onFault(code);
      throw error;
    }
  };
  return {
    sizeBytes,
    head: (length) => watched(readHead(handle, Math.min(length, sizeBytes))),
    sendTo: (target, start, endExclusive) => watched(sendRange(handle, target, start, endExclusive)),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** A fault of the file, not of who reads it; a file that ends early was cut after it was opened. */
function readFault(error: unknown): string | undefined {
  if (error instanceof RangeError) return 'it ends early';
  return isUnreadable(error) ? systemCode(error) : undefined;
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
