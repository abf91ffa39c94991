import { expect, test } from 'vitest';
import { chooseEvictions, type ReadyImage } from '#central/siteCaches/eviction.ts';
import { stateAtSite } from '#central/siteCaches/state.ts';
import type { CacheState } from '#contract/images.ts';

const copy = (state: CacheState, receivedBytes: number | null = null) => ({
  state,
  receivedBytes,
  error: null,
});

test.each([
  [['ready', 'pulling', 'evicting', 'failed'], 'ready'],
  [['evicting', 'pulling', 'failed'], 'pulling'],
  [['failed', 'evicting'], 'evicting'],
  [['failed'], 'failed'],
  [[], undefined],
] as const)('agents that say %j make the site %s', (states, expected) => {
  expect(stateAtSite(states.map((state) => copy(state)))?.state).toBe(expected);
  expect(stateAtSite(states.toReversed().map((state) => copy(state)))?.state).toBe(expected);
});

test('of two agents that pull the one that is ahead counts', () => {
  expect(stateAtSite([copy('pulling', 3), copy('pulling', 7)])?.receivedBytes).toBe(7);
});

const ready = (imageId: string, usedAt: string | null, more: Partial<ReadyImage> = {}): ReadyImage => ({
  imageId,
  digest: imageId,
  sizeBytes: 10,
  usedAt,
  isPinned: false,
  ...more,
});
const chosen = (images: ReadyImage[], bytes: number, inUse: string[] = []) =>
  chooseEvictions(images, bytes, new Set(inUse)).map(({ digest }) => digest);

test('the least recently used go first, what was never used before all, and no more than is asked for', () => {
  const images = [ready('newer', '2026-02'), ready('older', '2026-01'), ready('unused', null)];
  expect(chosen(images, 1)).toEqual(['unused']);
  expect(chosen(images, 11)).toEqual(['unused', 'older']);
  expect(chosen(images, 1000)).toEqual(['unused', 'older', 'newer']);
  expect(chosen(images, 0)).toEqual([]);
});

test('never what is pinned or in use', () => {
  const images = [ready('pinned', null, { isPinned: true }), ready('used', null), ready('free', '2026-01')];
  expect(chosen(images, 1000, ['used'])).toEqual(['free']);
});

test('two names of one digest are one artifact: one of them in use keeps it, and it frees its bytes once', () => {
  const twins = [ready('one', null, { digest: 'twin' }), ready('two', '2026-03', { digest: 'twin' })];
  expect(chosen(twins, 1000, ['two'])).toEqual([]);
  expect(chooseEvictions(twins, 1000, new Set())).toEqual([
    { digest: 'twin', imageIds: ['one', 'two'], sizeBytes: 10 },
  ]);
  expect(chosen([...twins, ready('other', '2026-02')], 15)).toEqual(['other', 'twin']);
});
