import { randomBytes, randomInt } from 'node:crypto';
import { alignedBuffer } from '#base/libc.ts';
import type { Target } from '../disks/target.ts';

/** Bytes of a marked block: a multiple of every sector size. */
const blockSize = 4096;
/** How many blocks are marked beside the first and the last. */
const sampled = 62;

/** Blocks of a disk that were given a mark of this wipe before it began. */
export interface Marks {
  offsets: readonly number[];
  mark: Buffer;
}

/**
 * Where a wipe will be read back: the first block, the last, and some in between that nobody can foresee; for a quick wipe only of
 * the ranges that it zeroes. Sorted, each once.
 */
export function placesToMark(sizeBytes: number, ranges: readonly Range[]): number[] {
  const blocks = ranges.map(({ offset, length }) => {
    const first = Math.ceil(offset / blockSize);
    return { first, count: Math.floor(Math.min(offset + length, sizeBytes) / blockSize) - first };
  });
  const usable = blocks.filter(({ count }) => count > 0);
  const ends = usable.flatMap(({ first, count }) => [first, first + count - 1]);
  const some = usable.flatMap(({ first, count }) =>
    Array.from({ length: Math.ceil(sampled / usable.length) }, () => first + randomInt(count)),
  );
  return [...new Set([...ends, ...some])].sort((a, b) => a - b).map((block) => block * blockSize);
}

export interface Range {
  offset: number;
  length: number;
}

/**
 * Writes a random block to each place and makes it durable: a wipe that the device only pretended leaves it there to be found, on
 * a disk that was empty too.
 */
export async function writeMarks(target: Target, offsets: readonly number[]): Promise<Marks> {
  const mark = alignedBuffer(blockSize);
  randomBytes(blockSize).copy(mark);
  for (const offset of offsets) await target.write(mark, offset);
  await target.sync();
  return { offsets, mark };
}

/** How many of the marked blocks no longer hold the mark; `zeroed` demands zeros instead. */
export async function readBack(
  target: Target,
  { offsets, mark }: Marks,
  zeroed: boolean,
): Promise<{ blocks: number; changed: number }> {
  const block = alignedBuffer(blockSize);
  let changed = 0;
  for (const offset of offsets) {
    await target.read(block, offset);
    if (zeroed ? block.every((byte) => byte === 0) : !block.equals(mark)) changed += 1;
  }
  return { blocks: offsets.length, changed };
}
