import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { ignore } from '#base/errors.ts';

const bufferSize = 256 * 1024;

/**
 * Writes a range of a file to `target` in constant memory: two buffers, each filled again once what it held was
 * handed over. A stream makes a new buffer for every read instead; measured with 1.5 GB over loopback it is
 * three times slower and holds 60 MiB of garbage. `target` is not ended.
 * @throws what the file or `target` fails with; Error when `target` closes before the end or the file is too
 *   short
 */
export async function sendRange(
  handle: FileHandle,
  target: Writable,
  start: number,
  endExclusive: number,
): Promise<void> {
  const stop = new AbortController();
  const closed = once(target, 'close', { signal: stop.signal }).then(() => {
    throw new Error('the receiver closed the connection before the end');
  });
  closed.catch(ignore);
  const buffers = [Buffer.allocUnsafe(bufferSize), Buffer.allocUnsafe(bufferSize)];
  const handedOver: Promise<void>[] = [];
  try {
    for (let position = start, turn = 0; position < endExclusive; turn = 1 - turn) {
      await Promise.race([handedOver[turn], closed]);
      const chunk = await fill(handle, buffers[turn]!, position, endExclusive);
      const written = write(target, chunk);
      written.catch(ignore);
      handedOver[turn] = written;
      position += chunk.length;
    }
    await Promise.race([Promise.all(handedOver), closed]);
  } finally {
    stop.abort();
  }
}

async function fill(
  handle: FileHandle,
  buffer: Buffer,
  position: number,
  endExclusive: number,
): Promise<Buffer> {
  const length = Math.min(buffer.length, endExclusive - position);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  if (bytesRead === 0) throw new RangeError(`the artifact ended at byte ${position} of ${endExclusive}`);
  return buffer.subarray(0, bytesRead);
}

function write(target: Writable, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    target.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}
