import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import {
  contentOf,
  filesIn,
  imageOf,
  sha256,
  startCache,
  startSource,
  temporaryDirectory,
} from './testBench.ts';

const bytes = randomBytes(700_000);

test('a desired image is pulled, verified, listed and read by ranges', async () => {
  const directory = await temporaryDirectory();
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory });
  const image = imageOf(bytes, `${source.origin}/demo.raw`);

  cache.desire([image]);
  expect(cache.state(image.digest)).toMatchObject({ state: 'pulling', ref: 'demo@1' });
  expect(await cache.open(image.digest)).toBeUndefined();
  await cache.ready(image.digest);

  expect(cache.state(image.digest)).toEqual({
    digest: image.digest,
    ref: 'demo@1',
    state: 'ready',
    sizeBytes: 700_000,
  });
  const file = path.join('v1', 'sha256', image.digest.slice(0, 2), image.digest);
  expect(await filesIn(directory)).toEqual([file]);
  expect(await readFile(path.join(directory, file))).toEqual(bytes);
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
  expect(await contentOf(cache, image.digest, 300_000, 600_001)).toEqual(bytes.subarray(300_000, 600_001));
  expect(source.requests.map((request) => request.headers['accept-encoding'])).toEqual(['identity']);
});

test('an image without a size in the catalog is pulled too', async () => {
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const { sizeBytes: _, ...image } = imageOf(bytes, source.origin);
  cache.desire([image]);
  await cache.ready(image.digest);
  expect(cache.state(image.digest)).toMatchObject({ state: 'ready', sizeBytes: bytes.length });
});

test('the second source is used when the first cannot be', async () => {
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, '', {
    sources: ['https://127.0.0.1:1/x', 'http://127.0.0.1/x', source.origin],
  });
  cache.desire([image]);
  await cache.ready(image.digest);
  expect(cache.state(image.digest)?.state).toBe('ready');
});

test('ready() of an image that is neither held nor desired is NOT_FOUND', async () => {
  const cache = await startCache({ directory: await temporaryDirectory() });
  await expect(cache.ready(sha256('x'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('many who wait for one digest share one flight', async () => {
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, source.origin);
  cache.desire([image]);
  cache.desire([image]);
  await Promise.all(Array.from({ length: 20 }, () => cache.ready(image.digest)));
  expect(source.requests.length).toBe(1);
});

test('no more pulls run at a time than configured', async () => {
  let running = 0;
  let most = 0;
  const images = Array.from({ length: 6 }, (_, n) => randomBytes(1000 + n));
  const source = await startSource((request, socket) => {
    most = Math.max(most, ++running);
    setTimeout(() => {
      running--;
      serveBytes(images[Number(request.path.slice(1))] ?? Buffer.alloc(0))(request, socket, 0);
    }, 20);
  });
  const cache = await startCache({ directory: await temporaryDirectory(), parallelPulls: 2 });
  const desired = images.map((content, n) => imageOf(content, `${source.origin}/${n}`));
  cache.desire(desired);
  // Not `ready`: what somebody waits for has places of its own.
  await expect.poll(() => desired.every(({ digest }) => cache.state(digest)?.state === 'ready')).toBe(true);
  expect(most).toBe(2);
});

test('a waiter that gives up does not stop the pull', async () => {
  const gate = Promise.withResolvers<void>();
  const source = await startSource(async (request, socket, count) => {
    await gate.promise;
    serveBytes(bytes)(request, socket, count);
  });
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, source.origin);
  cache.desire([image]);
  const impatient = new AbortController();
  const waiting = cache.ready(image.digest, impatient.signal);
  impatient.abort(new Error('gave up'));
  await expect(waiting).rejects.toThrow('gave up');
  gate.resolve();
  await cache.ready(image.digest);
});

test('an image that is no longer desired stops its pull and leaves nothing behind', async () => {
  const directory = await temporaryDirectory();
  const asked = Promise.withResolvers<void>();
  const source = await startSource((_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 700000\r\n\r\nabc');
    asked.resolve();
  });
  const cache = await startCache({ directory });
  const image = imageOf(bytes, source.origin);
  cache.desire([image]);
  const waiting = cache.ready(image.digest);
  const settled = expect(waiting).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await asked.promise;
  cache.desire([]);
  await settled;
  expect(cache.state(image.digest)).toBeUndefined();
  await cache.close();
  expect(await filesIn(directory)).toEqual([]);
});

test('an image that is stated anew with another source is pulled from there, and who waits for it waits on', async () => {
  const asked = Promise.withResolvers<void>();
  const silent = await startSource(() => asked.resolve());
  const good = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, silent.origin);
  cache.desire([image]);
  const waiting = cache.ready(image.digest);
  await asked.promise;
  cache.desire([{ ...image, ref: 'demo@2', sources: [good.origin] }]);
  await waiting;
  expect(cache.state(image.digest)).toMatchObject({ state: 'ready', ref: 'demo@2' });
});

test('an image that is stated anew under another ref goes on with its pull', async () => {
  const gate = Promise.withResolvers<void>();
  const source = await startSource(async (request, socket, count) => {
    await gate.promise;
    serveBytes(bytes)(request, socket, count);
  });
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, source.origin);
  cache.desire([image]);
  cache.desire([{ ...image, ref: 'demo@2' }]);
  expect(cache.state(image.digest)).toMatchObject({ state: 'pulling', ref: 'demo@2' });
  gate.resolve();
  await cache.ready(image.digest);
  expect(source.requests.length).toBe(1);
});

test('an unsigned ramdisk is refused without a request, and says why', async () => {
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, source.origin, { kind: 'ramdisk' });
  cache.desire([image]);
  await expect(cache.ready(image.digest)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    details: { reason: 'unsigned' },
  });
  expect(cache.state(image.digest)).toMatchObject({ state: 'failed', error: { code: 'INVALID_STATE' } });
  expect(source.requests).toEqual([]);
});

describe('quota', () => {
  const contents = Array.from({ length: 3 }, () => randomBytes(400_000));

  async function threeImages(quotaBytes: number) {
    const source = await startSource((request, socket, count) =>
      serveBytes(contents[Number(request.path.slice(1))] ?? Buffer.alloc(0))(request, socket, count),
    );
    const cache = await startCache({ directory: await temporaryDirectory(), quotaBytes, parallelPulls: 1 });
    return { cache, images: contents.map((content, n) => imageOf(content, `${source.origin}/${n}`)) };
  }

  test('what is no longer desired makes room, what is desired stays', async () => {
    const { cache, images } = await threeImages(900_000);
    const [one, two, three] = images as [CacheEntry, CacheEntry, CacheEntry];
    cache.desire([one, two]);
    await Promise.all([cache.ready(one.digest), cache.ready(two.digest)]);
    cache.desire([two, three]);
    await cache.ready(three.digest);
    expect(
      cache
        .inventory()
        .images.map((row) => row.digest)
        .sort(),
    ).toEqual([two.digest, three.digest].sort());
  });

  test('an image that does not fit beside the desired ones fails with no-space', async () => {
    const { cache, images } = await threeImages(900_000);
    cache.desire(images);
    const ends = await Promise.allSettled(images.map((image) => cache.ready(image.digest)));
    expect(ends.map((end) => end.status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(ends[2]).toMatchObject({ reason: { code: 'DRIVER_ERROR', details: { reason: 'no-space' } } });
  });

  test('an image that is being read is not evicted', async () => {
    const { cache, images } = await threeImages(900_000);
    const [one, two, three] = images as [CacheEntry, CacheEntry, CacheEntry];
    cache.desire([one, two]);
    await Promise.all([cache.ready(one.digest), cache.ready(two.digest)]);
    const held = await cache.open(one.digest);
    cache.desire([three]);
    await cache.ready(three.digest);
    expect(cache.state(one.digest)?.state).toBe('ready');
    expect(cache.state(two.digest)).toBeUndefined();
    await held?.close();
  });
});

type CacheEntry = ReturnType<typeof imageOf>;

test('the inventory keeps its entity tag while nothing changes, and changes are told', async () => {
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, source.origin);
  const empty = cache.inventory();
  let told = 0;
  const stop = cache.onChange(() => told++);
  cache.desire([image]);
  const pulling = cache.inventory();
  await cache.ready(image.digest);
  const ready = cache.inventory();
  expect(new Set([empty.etag, pulling.etag, ready.etag]).size).toBe(3);
  expect(cache.inventory()).toEqual(ready);
  expect(told).toBeGreaterThanOrEqual(2);
  stop();
  const before = told;
  cache.desire([]);
  expect(told).toBe(before);
});
