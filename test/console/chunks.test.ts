import { expect, test } from 'vitest';
import { Chunks } from '#console/chunks.ts';

const limits = { chunk: 164, waiting: 1000, total: 2000, everyMs: 1000, restMs: 1000 };
const line = (length: number) => 'x'.repeat(length);

test('lines are taken together, at most once in the time', () => {
  const chunks = new Chunks(limits);
  chunks.add(['a', 'b']);
  expect(chunks.take(0)).toBe('a\nb');
  chunks.add(['c']);
  expect(chunks.take(999)).toBeUndefined();
  expect(chunks.take(1000)).toBe('c');
  expect(chunks.take(5000)).toBeUndefined();
});

test('a burst waits, in pieces of bounded size', () => {
  const chunks = new Chunks(limits);
  chunks.add(Array.from({ length: 6 }, () => line(40)));
  const sizes = [0, 1000, 2000, 3000].map((now) => chunks.take(now)?.length);
  expect(sizes).toEqual([81, 81, 81, undefined]);
});

test('of more than may wait the oldest lines go, and that is told', () => {
  const chunks = new Chunks(limits);
  chunks.add(Array.from({ length: 100 }, (_, at) => `${at} ${line(40)}`));
  expect(chunks.take(0)).toMatch(/^\[\d+ lines left out: they came too fast\]\n7\d x/);
});

test('a recording is full at its limit, with what an earlier run took', () => {
  const chunks = new Chunks(limits, 1950);
  chunks.add([line(60), line(60)]);
  expect(chunks.take(0)).toBe(line(60));
  expect(chunks.full).toBe(true);
  expect(chunks.take(5000)).toBeUndefined();
  expect(chunks.taken).toBe(2010);
});

test('at the end what waits is taken at once', () => {
  const chunks = new Chunks(limits);
  chunks.add(['a']);
  expect(chunks.take(0)).toBe('a');
  chunks.add(['b']);
  expect(chunks.take(1, true)).toBe('b');
});
