import { expect, test } from 'vitest';
import { digestMismatch, unreachable } from '#cache/faults.ts';
import { Puller } from '#cache/puller.ts';
import { RailheadError } from '#contract/errors.ts';
import type { CacheImage } from '#contract/images.ts';
import { stoppedClock } from '../fakes/clocks.ts';

const image: CacheImage = {
  ref: 'a@1',
  kind: 'os',
  digest: 'a',
  format: 'raw',
  compression: 'none',
  sources: [],
};

function failingWith(error: Error, times = Number.POSITIVE_INFINITY) {
  const clock = stoppedClock();
  let tries = 0;
  const puller = new Puller({
    pullOnce: async () => {
      if (++tries <= times) throw error;
    },
    parallelPulls: 1,
    clock,
    steady: clock,
    onChange: () => {},
    onFailure: () => {},
  });
  return { puller, clock, tries: () => tries };
}

test('the reason of a failure and the time of the next try are kept until then', async () => {
  const error = unreachable('https://h.example/x', 'ECONNREFUSED');
  const { puller, clock } = failingWith(error, 1);
  puller.begin(image);
  const waitMs = await clock.nextSleep();
  expect(puller.get('a')).toMatchObject({ error, nextTryAt: waitMs });
  const done = puller.outcome('a');
  expect(puller.get('a')).not.toHaveProperty('error');
  await done;
  expect(puller.get('a')).toBeUndefined();
});

test('pauses grow, after wrong content to five minutes, after a broken link to one', async () => {
  for (const [error, capMs] of [
    [digestMismatch('a', 'b'), 300_000],
    [unreachable('https://h.example/x', 'ECONNREFUSED'), 60_000],
  ] as const) {
    const { puller, clock } = failingWith(error);
    puller.begin(image);
    const pauses: number[] = [];
    for (let n = 0; n < 9; n++) {
      pauses.push(await clock.nextSleep());
      clock.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(pauses[0]).toBeLessThanOrEqual(5000);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(capMs / 2);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(capMs);
    await puller.close();
  }
});

test('what no try can mend is tried once', async () => {
  const refused = new RailheadError('INVALID_INPUT', 'no', {});
  const { puller, tries } = failingWith(refused);
  puller.begin(image);
  await expect(puller.outcome('a')).rejects.toBe(refused);
  await expect(puller.outcome('a')).rejects.toBe(refused);
  expect(tries()).toBe(1);
});

test('closing ends a pause', async () => {
  const { puller, clock } = failingWith(unreachable('x', 'y'));
  puller.begin(image);
  await clock.nextSleep();
  await puller.close();
  expect(puller.get('a')).toBeUndefined();
});
