import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ImageCache } from '#cache/imageCache.ts';
import { slowly } from './slowDisk.ts';
import { contentOf, filesIn, imageOf, sha256, startCache, temporaryDirectory } from './testBench.ts';

const bytes = randomBytes(300_000);
const digest = sha256(bytes);

const imported = (cache: ImageCache, content: Buffer) =>
  cache.operator.importImage(Readable.from([content]), {
    ...{ digest: sha256(content), sizeBytes: content.length },
    known: () => imageOf(content, 'https://127.0.0.1:1/x'),
  });

const fileOf = (directory: string, of: string) => path.join(directory, 'v1/sha256', of.slice(0, 2), of);

async function cacheWith(...contents: Buffer[]) {
  const directory = await temporaryDirectory();
  const cache = await startCache({ directory });
  for (const content of contents) await imported(cache, content);
  return { directory, cache };
}

async function lieThere(directory: string, of: string, content: Buffer): Promise<string> {
  const file = fileOf(directory, of);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

test('an import during an eviction of the same image leaves it whole', async () => {
  const { cache } = await cacheWith(bytes);
  slowly('unlink', 100);
  const evicted = cache.operator.evict(digest);
  await delay(20);
  await imported(cache, bytes);
  await evicted;
  expect(cache.state(digest)?.state).toBe('ready');
  expect(await contentOf(cache, digest)).toEqual(bytes);
});

test('an import while the rotten file of the same image goes to quarantine leaves it whole', async () => {
  const { directory, cache } = await cacheWith(bytes);
  await writeFile(fileOf(directory, digest), 'rotten');
  slowly('rename', 100);
  const verified = cache.operator.verify(digest);
  await delay(20);
  await imported(cache, bytes);
  expect(await verified).toBe(false);
  expect(cache.state(digest)?.state).toBe('ready');
  expect(await contentOf(cache, digest)).toEqual(bytes);
});

test('a hashing that ends after an import judges the file that it read, not the one that came', async () => {
  const directory = await temporaryDirectory();
  const rotten = Buffer.alloc(200_000_000, 7);
  await lieThere(directory, digest, rotten);
  const cache = await startCache({ directory });
  await expect.poll(() => cache.state(digest)?.receivedBytes ?? 0).toBeGreaterThan(0);
  await imported(cache, bytes);
  expect(cache.state(digest)?.state).toBe('ready');
  expect(await cache.operator.verify(digest)).toBe(true);
  expect(await readdir(path.join(directory, 'v1/quarantine'))).toEqual([]);
  expect(await contentOf(cache, digest)).toEqual(bytes);
});

test('what is pinned or opened while others are collected stays', async () => {
  const contents = [randomBytes(1000), randomBytes(1001), randomBytes(1002)];
  const { cache } = await cacheWith(...contents);
  const [first = '', second = '', third = ''] = contents.map(sha256);
  slowly('unlink', 100);
  const collected = cache.operator.collectGarbage({ unused: true });
  await delay(20);
  cache.keep([{ digest: third }]);
  const held = await cache.open(second);
  expect((await collected).images.map((image) => image.digest)).toEqual([first]);
  expect([first, second, third].map((one) => cache.state(one)?.state)).toEqual([undefined, 'ready', 'ready']);
  await held?.close();
});

test('an image that is withdrawn while it is imported does not stay', async () => {
  const { directory, cache } = await cacheWith();
  const known = () => {
    queueMicrotask(() => cache.desire([], [digest]));
    return imageOf(bytes, 'https://127.0.0.1:1/x');
  };
  await expect(
    cache.operator.importImage(Readable.from([bytes]), { known, digest, sizeBytes: bytes.length }),
  ).rejects.toMatchObject({
    code: 'INVALID_STATE',
    details: { reason: 'withdrawn' },
  });
  expect(await filesIn(directory)).toEqual([]);
  expect(cache.inventory().images).toEqual([]);
});

test('closing does not wait until a large file is hashed', async () => {
  const directory = await temporaryDirectory();
  const file = await lieThere(directory, digest, Buffer.alloc(0));
  await truncate(file, 20e9);
  const cache = await startCache({ directory });
  await expect.poll(() => cache.state(digest)?.receivedBytes ?? 0).toBeGreaterThan(0);
  const begun = Date.now();
  await cache.close();
  expect(Date.now() - begun).toBeLessThan(1500);
  expect(existsSync(file)).toBe(true);
});

test('bytes that nobody vouches for push out nothing, and a small image needs no more room than its own', async () => {
  const directory = await temporaryDirectory();
  const cache = await startCache({ directory, quotaBytes: 2 * bytes.length });
  await imported(cache, bytes);
  const stranger = Buffer.alloc(2 * bytes.length - 1, 7);
  const options = { digest: sha256(stranger), sizeBytes: stranger.length, known: () => undefined };
  await expect(cache.operator.importImage(Readable.from([stranger]), options)).rejects.toMatchObject({
    details: { reason: 'unknown-image' },
  });
  expect(cache.state(digest)).toMatchObject({ state: 'ready' });
  const small = Buffer.from('small');
  await imported(cache, small);
  expect(cache.state(digest)).toMatchObject({ state: 'ready' });
});
