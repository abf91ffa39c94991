import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { CachedImage } from '#contract/images.ts';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { contentOf, filesIn, imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

const bytes = randomBytes(700_000);
const refusal = { code: 'INVALID_STATE', details: { reason: 'withdrawn' } };

async function heldImage() {
  const directory = await temporaryDirectory();
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory });
  const image = imageOf(bytes, `${source.origin}/demo.raw`);
  cache.desire([image]);
  await cache.ready(image.digest);
  return { directory, cache, image };
}

test('a withdrawn image is refused at once, whoever desires it, and its bytes are removed', async () => {
  const { directory, cache, image } = await heldImage();
  cache.desire([image], [image.digest]);
  expect(await cache.open(image.digest)).toBeUndefined();
  expect(cache.state(image.digest)).toMatchObject({ state: 'failed', error: refusal });
  await expect(cache.ready(image.digest)).rejects.toMatchObject(refusal);
  expect(await cache.section(image.digest, 'linux')).toBeUndefined();
  await expect.poll(() => filesIn(directory)).toEqual([]);
  await expect.poll(() => cache.inventory().images).toEqual([]);
});

test('who is in the middle of a transfer of it is cut off', async () => {
  const { cache, image } = await heldImage();
  const held = await cache.open(image.digest);
  const receiver = new PassThrough({ highWaterMark: 1 });
  const failed = new Promise((resolve) => receiver.once('error', resolve));
  const sent = held?.sendTo(receiver, 0, held.sizeBytes);
  await new Promise((resolve) => receiver.once('readable', resolve));
  cache.desire([], [image.digest]);
  await expect(sent).rejects.toThrow();
  expect(await failed).toMatchObject(refusal);
  await held?.close();
});

test('who has opened it before gets none of it after', async () => {
  const { cache, image } = await heldImage();
  const held = await cache.open(image.digest);
  cache.desire([], [image.digest]);
  await expect(held?.sendTo(new PassThrough(), 0, 10)).rejects.toMatchObject(refusal);
  await held?.close();
});

test('a pull of it is stopped and leaves nothing', async () => {
  const directory = await temporaryDirectory();
  const begun = Promise.withResolvers<void>();
  const source = await startSource((_request, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes.subarray(0, 100_000), () => begun.resolve());
  });
  const cache = await startCache({ directory });
  const image = imageOf(bytes, source.origin);
  cache.desire([image]);
  const waiting = cache.ready(image.digest);
  await begun.promise;
  cache.desire([image], [image.digest]);
  await expect(waiting).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect.poll(() => filesIn(directory)).toEqual([]);
});

test('a cache that is opened again with it on disk does not show it', async () => {
  const { directory, cache, image } = await heldImage();
  await cache.close();
  const again = await startCache({ directory });
  again.desire([], [image.digest]);
  expect(await again.open(image.digest)).toBeUndefined();
  await expect.poll(() => filesIn(directory)).toEqual([]);
});

test('once it is not withdrawn any more it is pulled again', async () => {
  const { directory, cache, image } = await heldImage();
  cache.desire([image], [image.digest]);
  await expect.poll(() => filesIn(directory)).toEqual([]);
  cache.desire([image], []);
  await cache.ready(image.digest);
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
  expect(cache.inventory().images.map(({ state }: CachedImage) => state)).toEqual(['ready']);
});
