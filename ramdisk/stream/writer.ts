import { alignedBuffer } from '#base/libc.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Target } from '../disks/target.ts';
import { DiskBuffers } from './diskBuffers.ts';

/** The first and the last MiB of a disk hold what makes it bootable: partition tables, boot code, RAID labels. */
export const edgeBytes = 1024 * 1024;

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
  const body = new DiskBuffers(target, edgeBytes);
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

function tooLarge(imageBytes: number, diskBytes: number): RailheadError {
  return new RailheadError(
    'INVALID_STATE',
    `the image has at least ${imageBytes} bytes, the disk ${diskBytes}: choose a larger disk`,
    { path: 'disk', reason: 'no-space', imageBytes, diskBytes },
  );
}
