import { expect, test } from 'vitest';
import { backoffMs } from '#base/backoff.ts';

const limits = { firstMs: 100, maxMs: 1000 };

test('the pause doubles up to its limit', () => {
  expect([1, 2, 3, 4, 5, 500].map((failures) => backoffMs(failures, limits, () => 1))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ]);
});

test('at least half of it is waited, the rest is left to chance', () => {
  expect(backoffMs(3, limits, () => 0)).toBe(200);
  expect(backoffMs(0, limits, () => 1)).toBe(100);
});
