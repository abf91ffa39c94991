import { randomBytes } from 'node:crypto';
import { readdir, rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { CacheOptions, ImageCache } from '#cache/imageCache.ts';
import type { CachedImage } from '#contract/images.ts';
import { contentOf, imageOf, sha256, startCache, startSource, temporaryDirectory } from './testBench.ts';

const contents = [randomBytes(300_000), randomBytes(300_001), randomBytes(300_002)];
const digests = contents.map(sha256);
const [first = '', second = '', third = ''] = digests;

const imported = (cache: ImageCache, content: Buffer) =>
  cache.operator.importImage(Readable.from([content]), {
    ...{ digest: sha256(content), sizeBytes: content.length },
    known: () => imageOf(content, 'https://127.0.0.1:1/x'),
  });

/** A cache whose index was lost, with images that came in this order, a day apart. */
async function withoutIndex(options: Partial<CacheOptions> = {}): Promise<ImageCache> {
  const directory = await temporaryDirectory();
  const cache = await startCache({ directory });
  for (const content of contents) await imported(cache, content);
  await cache.close();
  const root = path.join(directory, 'v1');
  for (const name of await readdir(root)) if (name.startsWith('index.db')) await rm(path.join(root, name));
  for (const [day, digest] of digests.entries()) {
    const at = Date.now() / 1000 - (3 - day) * 86_400;
    await utimes(path.join(root, 'sha256', digest.slice(0, 2), digest), at, at);
  }
  return startCache({ directory, ...options });
}

const readyOnes = (cache: ImageCache) => digests.filter((digest) => cache.state(digest)?.state === 'ready');

test('files that are still to be hashed are on their way in, under the ref that the catalog knows', async () => {
  const cache = await withoutIndex({ refOf: (digest) => (digest === first ? 'demo@7' : undefined) });
  const rows: CachedImage[] = cache.inventory().images;
  expect(rows.map(({ state }) => state)).toEqual(['pulling', 'pulling', 'pulling']);
  expect(cache.state(first)).toMatchObject({ ref: 'demo@7', sizeBytes: contents[0]?.length });
  await expect.poll(() => readyOnes(cache)).toEqual(digests);
  expect(cache.state(first)).toMatchObject({ state: 'ready', ref: 'demo@7' });
});

test('who asks for one of them gets it once it is hashed, without a source', async () => {
  const cache = await withoutIndex();
  expect(await contentOf(cache, third)).toEqual(contents[2]);
  const again = await withoutIndex();
  await again.ready(third);
  expect(again.state(third)?.state).toBe('ready');
});

test('after a lost index a smaller quota is kept too, and what came first goes first', async () => {
  const cache = await withoutIndex({ quotaBytes: 700_000 });
  cache.desire([]);
  const seen = new Set<string | undefined>();
  cache.onChange(() => seen.add(cache.inventory().images.find(({ state }) => state === 'evicting')?.digest));
  await expect.poll(() => readyOnes(cache)).toEqual([second, third]);
  expect(cache.state(first)).toBeUndefined();
  // Who watches is told that it leaves.
  expect(seen).toContain(first);
});

test('an import serves those who wait for the pull of the same image', async () => {
  const asked = Promise.withResolvers<void>();
  const silent = await startSource(() => asked.resolve());
  const cache = await startCache({ directory: await temporaryDirectory() });
  cache.desire([imageOf(contents[0]!, silent.origin)]);
  const waiting = cache.ready(first);
  await asked.promise;
  await imported(cache, contents[0]!);
  await waiting;
  expect(cache.state(first)?.state).toBe('ready');
});
