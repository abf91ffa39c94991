import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placesToMark } from '#ramdisk/wipe/marks.ts';
import { quickRanges } from '#ramdisk/wipe/ranges.ts';

const MiB = 1024 * 1024;

test('a quick wipe zeroes both ends of the disk and of each partition', () => {
  expect(quickRanges(100 * MiB, [{ offset: 20 * MiB, length: 30 * MiB }])).toEqual([
    { offset: 0, length: 4 * MiB },
    { offset: 20 * MiB, length: 4 * MiB },
    { offset: 46 * MiB, length: 4 * MiB },
    { offset: 96 * MiB, length: 4 * MiB },
  ]);
});

test('a small disk is zeroed whole, once', () => {
  expect(quickRanges(6 * MiB, [{ offset: MiB, length: 5 * MiB }])).toEqual([{ offset: 0, length: 6 * MiB }]);
});

test('ranges never overlap, lie within the disk, and what is marked lies within them', () => {
  const range = fc.record({
    offset: fc.nat(200).map((n) => n * MiB),
    length: fc.nat(200).map((n) => n * 512),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 16, max: 400_000 }),
      fc.array(range, { maxLength: 8 }),
      (sectors, partitions) => {
        const sizeBytes = sectors * 512;
        const ranges = quickRanges(sizeBytes, partitions);
        const ends = ranges.map(({ offset, length }) => offset + length);
        expect(ends.every((end) => end <= sizeBytes)).toBe(true);
        expect(ranges.slice(1).every(({ offset }, at) => offset > (ends[at] ?? 0))).toBe(true);
        for (const place of placesToMark(sizeBytes, ranges))
          expect(
            ranges.some(({ offset, length }) => place >= offset && place + 4096 <= offset + length),
          ).toBe(true);
      },
    ),
  );
});
