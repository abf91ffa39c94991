import { expect, test } from 'vitest';
import { evictions, missingRoom, pullChanges } from '#cache/desired.ts';
import type { CacheImage } from '#contract/images.ts';

const image = (digest: string, sources = ['https://h.example/x']): CacheImage => ({
  ref: `${digest}@1`,
  kind: 'os',
  digest,
  format: 'raw',
  compression: 'none',
  sources,
});

const byDigest = (...images: CacheImage[]) => new Map(images.map((one) => [one.digest, one]));

test('what is desired and neither held nor on its way is pulled; what is no longer desired is stopped', () => {
  const desired = byDigest(image('a'), image('b'), image('c'));
  expect(pullChanges(desired, new Set(['a']), byDigest(image('b'), image('d')))).toEqual({
    start: [image('c')],
    stop: ['d'],
  });
});

test('a desired image whose sources changed is begun anew', () => {
  const moved = image('a', ['https://elsewhere.example/x']);
  expect(pullChanges(byDigest(moved), new Set(), byDigest(image('a')))).toEqual({
    start: [moved],
    stop: ['a'],
  });
});

const held = [
  { digest: 'new', sizeBytes: 40, usedAt: 3 },
  { digest: 'old', sizeBytes: 30, usedAt: 1 },
  { digest: 'middle', sizeBytes: 20, usedAt: 2 },
];
const asked = {
  held: () => held,
  heldBytes: 90,
  keep: (_: string): boolean => false,
  promisedBytes: 0,
  neededBytes: 0,
  quotaBytes: 100,
  unwrittenBytes: 0,
  freeBytes: 1000,
  reserveBytes: 0,
};

test('nothing is evicted while everything fits', () => {
  expect(evictions({ ...asked, neededBytes: 10 })).toEqual([]);
});

test('the least recently used goes first, and no more than is needed', () => {
  expect(evictions({ ...asked, neededBytes: 11 })).toEqual(['old']);
  expect(evictions({ ...asked, neededBytes: 50 })).toEqual(['old', 'middle']);
});

test('what is desired or in use stays, whatever its age', () => {
  expect(evictions({ ...asked, neededBytes: 11, keep: (digest: string) => digest === 'old' })).toEqual([
    'middle',
  ]);
  expect(evictions({ ...asked, neededBytes: 11, keep: () => true })).toBeUndefined();
});

test('room that running pulls were promised counts as used', () => {
  expect(evictions({ ...asked, neededBytes: 5, promisedBytes: 10 })).toEqual(['old']);
});

test('a full disk evicts although the quota has room', () => {
  expect(evictions({ ...asked, quotaBytes: 10_000, unwrittenBytes: 20, freeBytes: 5 })).toEqual(['old']);
});

test('the disk keeps its reserve, and what is held goes first for it', () => {
  const full = { ...asked, quotaBytes: 10_000, unwrittenBytes: 20, freeBytes: 20 };
  expect(evictions(full)).toEqual([]);
  expect(evictions({ ...full, reserveBytes: 1 })).toEqual(['old']);
  expect(evictions({ ...full, reserveBytes: 91 })).toBeUndefined();
});

test('what exceeds which bound is told apart', () => {
  const large = { ...asked, neededBytes: 15, unwrittenBytes: 10, freeBytes: 8, reserveBytes: 2 };
  expect(missingRoom(large)).toEqual({ quota: 5, disk: 4 });
});

test('an image larger than the quota never fits, and nothing is thrown away for it', () => {
  expect(evictions({ ...asked, neededBytes: 101 })).toBeUndefined();
});
