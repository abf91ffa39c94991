import { expect, test, vi } from 'vitest';
import { createPresence } from '#agent/site/machines/presence.ts';

test('silence is counted from the last word, and from the start where there was none', () => {
  let now = 5;
  const presence = createPresence(() => now);
  now = 15;
  expect([presence.silentFor('a'), presence.heard('a')]).toEqual([10, false]);
  presence.seen('a');
  now = 18;
  expect([presence.silentFor('a'), presence.heard('a')]).toEqual([3, true]);
  const { release } = presence.hold('a');
  now = 60;
  expect(presence.silentFor('a')).toBe(0);
  release();
  expect(presence.silentFor('a')).toBe(0);
});

test("a step of the site's clock makes no machine silent", () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const presence = createPresence();
    presence.seen('a');
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(presence.silentFor('a')).toBeLessThan(60_000);
  } finally {
    vi.useRealTimers();
  }
});

test('a machine that is asked answers by its next request, not by the end of the one that it held', async () => {
  const presence = createPresence();
  const held = presence.hold('a');
  const silent = presence.answers('a', 20);
  expect(held.asked.aborted).toBe(true);
  held.release();
  expect(await silent).toBe(false);
  const answered = presence.answers('a', 10_000);
  expect(presence.hold('a').asked.aborted).toBe(false);
  expect(await answered).toBe(true);
});
