import { assert, constantFrom, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { blockFrom, wireNumber, wraps } from '#bootserver/tftp/blockNumbers.ts';

// case 42
test.each([
  [0, [65_535, 65_536, 65_537, 131_072], [65_535, 0, 1, 0]],
  [1, [65_535, 65_536, 65_537, 131_071], [65_535, 1, 2, 1]],
] as const)('after block 65,535 numbers go on at %i', (wrapsTo, blocks, numbers) => {
  expect(blocks.map((block) => wireNumber(block, wrapsTo))).toEqual(numbers);
});

test('an acknowledged number is found again, however many blocks went before', () => {
  assert(
    property(
      integer({ min: 0, max: 10_000_000 }),
      integer({ min: 0, max: 64 }),
      constantFrom(0 as const, 1 as const),
      (acked, ahead, wrapsTo) => {
        const number = wireNumber(acked + ahead, wrapsTo);
        expect(blockFrom(acked, number, wrapsTo)).toBe(acked + ahead);
      },
    ),
  );
});

test('a file wraps when it has more than 65,535 blocks', () => {
  expect(wraps(65_535 * 512 - 1, 512)).toBe(false);
  expect(wraps(65_535 * 512, 512)).toBe(true);
});
