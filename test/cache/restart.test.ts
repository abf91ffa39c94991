import { randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ImageCache } from '#cache/imageCache.ts';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { contentOf, filesIn, imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

const bytes = randomBytes(200_000);

/** A directory in which an earlier run left one image. */
async function earlierRun() {
  const directory = await temporaryDirectory();
  const source = await startSource(serveBytes(bytes));
  const image = imageOf(bytes, source.origin);
  const cache = await startCache({ directory });
  cache.desire([image]);
  await cache.ready(image.digest);
  await cache.close();
  const file = path.join(directory, 'v1', 'sha256', image.digest.slice(0, 2), image.digest);
  return { directory, source, image, file };
}

async function untilState(cache: ImageCache, digest: string, state: string | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = () => cache.state(digest)?.state === state && resolve();
    cache.onChange(look);
    look();
  });
}

test('what was held is ready at once, without the source and without being desired', async () => {
  const { directory, source, image } = await earlierRun();
  await source.close();
  const cache = await startCache({ directory });
  expect(cache.state(image.digest)).toMatchObject({ state: 'ready', ref: 'demo@1' });
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
});

test('a lost index is made again from the files', async () => {
  const { directory, source, image } = await earlierRun();
  for (const name of await readdir(path.join(directory, 'v1')))
    if (name.startsWith('index.db')) await rm(path.join(directory, 'v1', name));
  const cache = await startCache({ directory });
  await untilState(cache, image.digest, 'ready');
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
  expect(source.requests.length).toBe(1);
});

test('a damaged index is made again from the files', async () => {
  const { directory, source, image } = await earlierRun();
  await writeFile(path.join(directory, 'v1', 'index.db'), 'this is no database, it is noise'.repeat(200));
  const cache = await startCache({ directory });
  cache.desire([image]);
  await cache.ready(image.digest);
  expect(cache.state(image.digest)).toMatchObject({ state: 'ready', ref: 'demo@1' });
  expect(source.requests.length).toBe(1);
});

test('a file that was changed while we were away is not served; it is pulled again', async () => {
  const { directory, source, image, file } = await earlierRun();
  await writeFile(file, randomBytes(bytes.length));
  const cache = await startCache({ directory });
  expect(await cache.open(image.digest)).toBeUndefined();
  cache.desire([image]);
  await cache.ready(image.digest);
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
  expect(source.requests.length).toBe(2);
});

test('a file that is changed while we run is not served either', async () => {
  const { directory, image, file } = await earlierRun();
  const cache = await startCache({ directory });
  cache.desire([image]);
  await writeFile(file, randomBytes(bytes.length));
  expect(await cache.open(image.digest)).toBeUndefined();
  await cache.ready(image.digest);
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
});

test('a file that vanished is pulled again when it is asked for', async () => {
  const { directory, image, file } = await earlierRun();
  const cache = await startCache({ directory });
  cache.desire([image]);
  await rm(file);
  expect(await cache.open(image.digest)).toBeUndefined();
  await cache.ready(image.digest);
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
});

// Case I14: a part of an earlier run is never believed.
test('what a killed process left half written is removed; what is not ours is left alone', async () => {
  const { directory, image, file } = await earlierRun();
  await writeFile(path.join(directory, 'v1', 'tmp', 'abc'), 'half');
  await writeFile(path.join(path.dirname(file), 'notes.txt'), 'an operator was here');
  const cache = await startCache({ directory });
  await cache.close();
  const left = [
    path.relative(directory, file),
    path.join('v1', 'sha256', image.digest.slice(0, 2), 'notes.txt'),
  ];
  expect((await filesIn(directory)).sort()).toEqual(left.sort());
});
