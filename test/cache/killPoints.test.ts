import { expect, onTestFinished, test } from 'vitest';
import { killRepeatedly } from './killing.ts';
import { filesIn, startCache, temporaryDirectory, testCa } from './testBench.ts';

/** `npm run e2e -- cache-crash` does the same at 200 points. */
test('killed at any of 16 points, every visible file is whole and the next start is clean', {
  timeout: 60_000,
}, async () => {
  const directory = `${await temporaryDirectory()}/images`;
  const killed = await killRepeatedly(16, directory, testCa);
  onTestFinished(() => killed.close());
  expect(killed.wrong).toEqual([]);
  expect(killed.parts).toBeGreaterThan(0);
  expect(killed.requests).toBeGreaterThanOrEqual(16);

  const cache = await startCache({ directory });
  cache.desire(killed.images);
  await Promise.all(killed.images.map((image) => cache.ready(image.digest)));
  expect((await filesIn(directory)).length).toBe(3);
  expect(cache.inventory().images.map((row) => row.state)).toEqual(['ready', 'ready', 'ready']);
});
