import { randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { ByteRange } from './range.ts';

/** Several parts of one content as one body (RFC 9110 §14.6). */
export interface Multipart {
  contentType: string;
  length: number;
  writeTo(target: Writable): Promise<void>;
}

/** The ranges of `size` bytes one after another; `sendRange` writes the bytes of one and ends nothing. */
export function byteRanges(
  ranges: readonly ByteRange[],
  size: number,
  partType: string,
  sendRange: (target: Writable, range: ByteRange) => Promise<void>,
): Multipart {
  // In no image by more than chance.
  const boundary = randomBytes(18).toString('hex');
  const parts = ranges.map((range) => ({ range, head: partHead(boundary, partType, range, size) }));
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    length: parts.reduce((sum, { range, head }) => sum + head.length + lengthOf(range), end.length),
    writeTo: async (target) => {
      for (const { range, head } of parts) {
        target.write(head);
        await sendRange(target, range);
      }
      target.write(end);
    },
  };
}

function partHead(boundary: string, type: string, { start, endExclusive }: ByteRange, size: number): Buffer {
  const lines = [
    '',
    `--${boundary}`,
    `Content-Type: ${type}`,
    `Content-Range: bytes ${start}-${endExclusive - 1}/${size}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

function lengthOf({ start, endExclusive }: ByteRange): number {
  return endExclusive - start;
}
