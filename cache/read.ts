import type { FileHandle } from 'node:fs/promises';
import type { Writable } from 'node:stream';
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

export interface HeldHooks {
  /** Called once. */
  onClose: () => void;
  /** The file did not give its bytes: perhaps to nobody any more. */
  onFault: () => void;
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
      if (isReadFault(error)) onFault();
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
function isReadFault(error: unknown): boolean {
  return error instanceof RangeError || isUnreadable(error);
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
