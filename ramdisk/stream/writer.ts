import { alignedBuffer } from '#base/libc.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Target } from '../disks/target.ts';

/** The first and the last MiB of a disk hold what makes it bootable: partition tables, boot code, RAID labels. */
export const edgeBytes = 1024 * 1024;
const bufferBytes = 2 * 1024 * 1024;
const bufferCount = 4;

/** What was held back: the image's bytes for the first and the last MiB of the disk, zeros where it has none. */
export interface HeldEdges {
  head: Buffer;
  tail: Buffer;
  /** Length of the image. */
  imageBytes: number;
}

export interface DiskWriter {
  /** Takes the next bytes of the image; copies them, so that the buffer is the caller's again. */
  write(bytes: Buffer): Promise<void>;
  /** Writes out what is left and waits until the disk has taken it. The edges are not written. */
  finish(): Promise<HeldEdges>;
  /** Waits until no write is under way, after a failure. */
  abandon(): Promise<void>;
}

/**
 * Writes an image from the start of a disk on, in large aligned writes that overlap with the arrival of the next bytes; all but the
 * disk's edges. A buffer full of zeros becomes the kernel's zero-out of that range.
 */
export function openWriter(target: Pick<Target, 'sizeBytes' | 'sectorSize' | 'write' | 'zero'>): DiskWriter {
  const { sizeBytes, sectorSize } = target;
  const tailStart = Math.max(edgeBytes, sizeBytes - edgeBytes);
  const head = alignedBuffer(Math.min(edgeBytes, sizeBytes)).fill(0);
  const tail = alignedBuffer(sizeBytes - Math.min(sizeBytes, tailStart)).fill(0);
  const body = openBody(target, edgeBytes);
  let position = 0;

  const place = async (bytes: Buffer): Promise<number> => {
    if (position < head.length) return bytes.copy(head, position);
    if (position >= tailStart) return bytes.copy(tail, position - tailStart);
    const part = bytes.subarray(0, tailStart - position);
    await body.append(part);
    return part.length;
  };
  return {
    write: async (bytes) => {
      if (position + bytes.length > sizeBytes) throw tooLarge(position + bytes.length, sizeBytes);
      for (let done = 0; done < bytes.length; ) {
        const placed = await place(bytes.subarray(done));
        done += placed;
        position += placed;
      }
    },
    finish: async () => {
      await body.flush(sectorSize);
      return { head, tail, imageBytes: position };
    },
    abandon: () => body.settled(),
  };
}

/** Fills buffers in turn and has up to `bufferCount` of them on their way to the disk. */
function openBody(target: Pick<Target, 'write' | 'zero'>, start: number) {
  const zeros = Buffer.alloc(bufferBytes);
  const free = Array.from({ length: bufferCount }, () => alignedBuffer(bufferBytes));
  const underWay = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  let current: Buffer | undefined;
  let filled = 0;
  let offset = start;

  const submit = (buffer: Buffer, length: number): void => {
    const bytes = buffer.subarray(0, length);
    const act = bytes.equals(zeros.subarray(0, length))
      ? target.zero(offset, length)
      : target.write(bytes, offset);
    offset += length;
    const job = act
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => {
        underWay.delete(job);
        free.push(buffer);
      });
    underWay.add(job);
  };
  const nextBuffer = async (): Promise<Buffer> => {
    while (free.length === 0) await Promise.race(underWay);
    if (failure !== undefined) throw failure.error;
    return free.pop() as Buffer;
  };
  const settled = async () => {
    await Promise.all(underWay);
  };
  return {
    append: async (bytes: Buffer): Promise<void> => {
      for (let done = 0; done < bytes.length; ) {
        current ??= await nextBuffer();
        const copied = bytes.copy(current, filled, done);
        done += copied;
        filled += copied;
        if (filled < current.length) continue;
        submit(current, filled);
        current = undefined;
        filled = 0;
      }
    },
    /** The last partial sector is padded with zeros: a disk takes whole sectors only. */
    flush: async (sectorSize: number): Promise<void> => {
      if (current !== undefined) {
        const padded = Math.ceil(filled / sectorSize) * sectorSize;
        current.fill(0, filled, padded);
        submit(current, padded);
        current = undefined;
      }
      await settled();
      if (failure !== undefined) throw failure.error;
    },
    settled,
  };
}

export function tooLarge(imageBytes: number, diskBytes: number): RailheadError {
  return new RailheadError(
    'INVALID_STATE',
    `the image has at least ${imageBytes} bytes, the disk ${diskBytes}: choose a larger disk`,
    { path: 'disk', reason: 'no-space', imageBytes, diskBytes },
  );
}
