import type { Range } from './marks.ts';

const MiB = 1024 * 1024;
/** Holds every partition table, label and superblock that a start of a disk or partition may have (ZFS: 512 KiB, Btrfs: 64 KiB, MD: 8 KiB). */
const head = 4 * MiB;
/** Backup GPT, MD 0.90 and 1.0, ZFS labels L2 and L3. */
const tail = 4 * MiB;

/**
 * What a quick wipe zeroes: both ends of the disk and of each partition that its table shows, so that neither firmware nor a
 * kernel finds a loader, a table or a file system. Overlapping ranges are joined.
 */
export function quickRanges(sizeBytes: number, partitions: readonly Range[]): Range[] {
  const ends = [{ offset: 0, length: sizeBytes }, ...partitions].flatMap(({ offset, length }) => [
    { offset, length: Math.min(head, length) },
    { offset: offset + Math.max(0, length - tail), length: Math.min(tail, length) },
  ]);
  return joined(ends.filter(({ offset, length }) => length > 0 && offset + length <= sizeBytes));
}

function joined(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => a.offset - b.offset);
  const result: Range[] = [];
  for (const range of sorted) {
    const before = result.at(-1);
    if (before === undefined || range.offset > before.offset + before.length) result.push({ ...range });
    else before.length = Math.max(before.length, range.offset + range.length - before.offset);
  }
  return result;
}
