import { describe, expect, test } from 'vitest';
import { Bandwidth, limitAt } from '#cache/bandwidth.ts';
import { steppingClock } from '../fakes/clocks.ts';

const MiB = 1024 ** 2;
const never = new AbortController().signal;
const office = { from: '08:00', to: '18:00', bytesPerSecond: 2 * MiB };
const at = (time: string) => new Date(`2026-11-02T${time}:00`);

describe('which limit holds', () => {
  test.each([
    ['07:59', undefined],
    ['08:00', 2 * MiB],
    ['17:59', 2 * MiB],
    ['18:00', undefined],
  ])('at %s of the day', (time, limit) => {
    expect(limitAt([office], at(time))).toBe(limit);
  });

  test.each([
    ['21:59', undefined],
    ['22:00', MiB],
    ['05:59', MiB],
    ['06:00', undefined],
  ])('over midnight, at %s', (time, limit) => {
    expect(limitAt([{ from: '22:00', to: '06:00', bytesPerSecond: MiB }], at(time))).toBe(limit);
  });

  test('the lowest of several, and all day where a window ends where it begins', () => {
    const always = { from: '00:00', to: '00:00', bytesPerSecond: 8 * MiB };
    expect(limitAt([always, office], at('12:00'))).toBe(2 * MiB);
    expect(limitAt([always, office], at('20:00'))).toBe(8 * MiB);
  });
});

test('all pulls together take no more than the limit, and the next bytes wait', async () => {
  const clock = steppingClock(at('09:00').getTime());
  const bandwidth = new Bandwidth([office], clock, clock);
  const begun = clock.now();
  for (let turn = 0; turn < 64; turn++) await bandwidth.take(MiB / 4, never);
  expect((clock.now() - begun) / 1000).toBeCloseTo(8, 1);
});

test('outside of the windows nothing waits, and what was owed is forgotten when one ends', async () => {
  const clock = steppingClock(at('17:59').getTime() + 55_000);
  const bandwidth = new Bandwidth([office], clock, clock);
  await bandwidth.take(1024 * MiB, never);
  expect(clock.now()).toBeLessThan(at('18:00').getTime() + 6000);
  const sleeps = clock.sleeps.length;
  await bandwidth.take(1024 * MiB, never);
  expect(clock.sleeps.length).toBe(sleeps);
});

test('a pull that is wanted no more waits no longer', async () => {
  const clock = steppingClock(at('09:00').getTime());
  const bandwidth = new Bandwidth([office], clock, clock);
  await expect(bandwidth.take(100 * MiB, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
