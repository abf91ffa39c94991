import type { FileHandle } from 'node:fs/promises';
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { ownDescriptor, sendFile } from '#base/sendFile.ts';
import { copyRange, fill, unlessClosed, write } from './copyRange.ts';

/** Of what is sent, so much is copied between two calls of sendfile. */
const pieceBytes = 64 * 1024;
/** The most that one call sends: a socket with large buffers shall not keep a thread of the pool to itself. */
const burstBytes = 2 * 1024 * 1024;
/** Below this a dup and two more calls are not worth it. */
const leastBytes = 1024 * 1024;

/**
 * Writes a range of a file to `target` in constant memory. To the socket of plain HTTP most of it goes by the kernel (sendfile), without being copied
 * here: 8 readers get 1.5 times as much of two processors. `target` is not ended.
 * @throws what the file or `target` fails with; Error when `target` closes before the end or the file is too short
 */
export async function sendRange(
  handle: FileHandle,
  target: Writable,
  start: number,
  endExclusive: number,
): Promise<void> {
  const fd = endExclusive - start < leastBytes ? undefined : plainDescriptor(target);
  if (fd === undefined) return copyRange(handle, target, start, endExclusive);
  const own = ownDescriptor(fd);
  const piece = Buffer.allocUnsafe(pieceBytes);
  try {
    await unlessClosed(target, async (open) => {
      for (let position = start; position < endExclusive; ) {
        // The usual way, and waited for: what stood in the queue before is gone then, and the socket takes bytes again.
        const chunk = await fill(handle, piece, position, endExclusive);
        await open(write(target, chunk));
        position += chunk.length;
        const count = Math.min(burstBytes, endExclusive - position);
        if (count > 0) position += await sendFile(own.fd, handle.fd, position, count);
      }
    });
  } finally {
    own.close();
  }
}

/** The descriptor of the TCP socket that `target`'s bytes go to as they are; undefined for TLS, chunks, and what is no socket. */
function plainDescriptor(target: Writable): number | undefined {
  const socket = target instanceof ServerResponse ? socketOf(target) : target;
  if (!(socket instanceof Socket) || socket instanceof TLSSocket || socket.destroyed) return undefined;
  // Node keeps it to itself.
  const fd = (socket as Socket & { _handle?: { fd?: number } })._handle?.fd;
  return fd !== undefined && fd >= 0 ? fd : undefined;
}

function socketOf(response: ServerResponse): Socket | null {
  return response.headersSent && !response.chunkedEncoding ? response.socket : null;
}
