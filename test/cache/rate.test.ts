import { expect, test } from 'vitest';
import { Rate, secondsLeft } from '#cache/rate.ts';

const MiB = 1024 ** 2;

test('the rate is that of the last ten seconds', () => {
  const rate = new Rate();
  for (let second = 0; second <= 30; second++)
    rate.note(second < 15 ? second : 15 + (second - 15) * MiB, second * 1000);
  expect(rate.bytesPerSecond(30_000)).toBeCloseTo(MiB, -2);
});

test('it falls while nothing arrives, and is not said at the very beginning', () => {
  const rate = new Rate();
  rate.note(0, 0);
  expect(rate.bytesPerSecond(100)).toBeUndefined();
  rate.note(MiB, 1000);
  expect(rate.bytesPerSecond(1000)).toBe(MiB);
  expect(rate.bytesPerSecond(4000)).toBe(MiB / 4);
});

test('a transfer that begins anew is measured anew', () => {
  const rate = new Rate();
  rate.note(0, 0);
  rate.note(100 * MiB, 1000);
  rate.note(0, 2000);
  rate.note(MiB, 3000);
  expect(rate.bytesPerSecond(3000)).toBe(MiB);
});

test('many small pieces cost no memory', () => {
  const rate = new Rate();
  for (let at = 0; at < 5000; at++) rate.note(at, at);
  expect(rate.bytesPerSecond(5000)).toBeCloseTo(1000, -1);
});

test('how long the rest takes is said where size and rate are known', () => {
  expect(secondsLeft(MiB, 11 * MiB, MiB)).toBe(10);
  expect(secondsLeft(MiB, undefined, MiB)).toBeUndefined();
  expect(secondsLeft(MiB, 11 * MiB, 0)).toBeUndefined();
});
