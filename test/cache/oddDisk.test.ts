import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '#base/command.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { failOpening } from './slowDisk.ts';
import { contentOf, imageOf, sha256, startCache, startSource, temporaryDirectory } from './testBench.ts';

const bytes = randomBytes(100_000);
const digest = sha256(bytes);
const known = () => imageOf(bytes, 'https://127.0.0.1:1/x');

async function holding(options: object = {}) {
  const directory = await temporaryDirectory();
  const cache = await startCache({ directory, ...options });
  await cache.operator.importImage(Readable.from([bytes]), { known, digest, sizeBytes: bytes.length });
  const file = path.join(directory, 'v1/sha256', digest.slice(0, 2), digest);
  return { directory, cache, file };
}

const reasonOf = (cache: ImageCache) => cache.state(digest)?.error?.details?.reason;

test('bytes that were swapped under the same size and modification time are not served', async () => {
  const { directory, cache, file } = await holding();
  const { atime, mtime } = await stat(file);
  const other = path.join(directory, 'other');
  await writeFile(other, randomBytes(bytes.length));
  await utimes(other, atime, mtime);
  await rename(other, file);
  expect(await cache.open(digest)).toBeUndefined();
  await expect.poll(() => reasonOf(cache)).toBe('bit-rot');
});

const oddities: [string, (file: string) => Promise<unknown>][] = [
  ['a folder', (file) => mkdir(file)],
  ['a link to itself', (file) => symlink(file, file)],
  ['a link to another file', (file) => symlink('/etc/hostname', file)],
  ['a pipe that nobody writes to', (file) => run('mkfifo', [file])],
];

test.each(oddities)(
  '%s in the place of a held image is set aside, and the image comes back',
  async (_, put) => {
    const { directory, cache, file } = await holding();
    await rm(file);
    await put(file);
    expect(await cache.operator.verify(digest)).toBe(false);
    expect(reasonOf(cache)).toBe('unreadable');
    expect(await readdir(path.join(directory, 'v1/quarantine'))).toEqual([digest]);
    const source = await startSource(serveBytes(bytes));
    const image = imageOf(bytes, source.origin);
    cache.desire([image]);
    await cache.ready(digest);
    expect(await contentOf(cache, digest)).toEqual(bytes);
  },
);

test.each(oddities)('%s that lies there at the start does not keep an image from coming', async (_, put) => {
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'v1/sha256', digest.slice(0, 2), digest);
  await mkdir(path.dirname(file), { recursive: true });
  await put(file);
  const cache = await startCache({ directory });
  const source = await startSource(serveBytes(bytes));
  cache.desire([imageOf(bytes, source.origin)]);
  await expect.poll(() => cache.state(digest)?.state, { timeout: 3000 }).toBe('ready');
  expect(await contentOf(cache, digest)).toEqual(bytes);
});

test.each(oddities)(
  '%s that appears under a name that is not held makes way for an import',
  async (_, put) => {
    const { cache, file } = await holding();
    await cache.operator.evict(digest);
    await put(file);
    await cache.operator.importImage(Readable.from([bytes]), { known, digest, sizeBytes: bytes.length });
    expect(await contentOf(cache, digest)).toEqual(bytes);
  },
);

test('a file that the disk does not let go stays what it was, and is tried again', async ({ skip }) => {
  const { cache, file } = await holding();
  await run('chattr', ['+i', file]).catch(() => skip('this file system or user cannot'));
  onTestFinished(() => run('chattr', ['-i', file]).catch(() => undefined) as Promise<void>);
  const refusal = { code: 'DRIVER_ERROR', details: { reason: 'cache-disk', cause: 'EPERM', digest } };
  await expect(cache.operator.evict(digest)).rejects.toMatchObject(refusal);
  expect(cache.state(digest)?.state).toBe('ready');
  expect(cache.operator.overview().troubles.map(({ text }) => text)).toEqual([
    expect.stringContaining('does not let the image'),
  ]);
  expect((await cache.operator.collectGarbage({ unused: true })).images).toEqual([]);
  cache.desire([], [digest]);
  expect(await cache.open(digest)).toBeUndefined();
  await run('chattr', ['-i', file]);
  await expect
    .poll(() => {
      cache.desire([], [digest]);
      return cache.operator.list();
    })
    .toEqual([]);
});

test('one cache folder is one agent’s', async () => {
  const { directory, cache } = await holding();
  await expect(startCache({ directory })).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { reason: 'locked' },
  });
  await cache.close();
  expect(await contentOf(await startCache({ directory }), digest)).toEqual(bytes);
});

test('a verification that comes to no end says so in the row of the image, until the next', async () => {
  const { cache } = await holding();
  failOpening(Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' }));
  await expect(cache.operator.verify(digest)).rejects.toThrow('EMFILE');
  expect(cache.operator.show(digest)).toMatchObject({ state: 'ready', verifyError: expect.anything() });
  failOpening(undefined);
  expect(await cache.operator.verify(digest)).toBe(true);
  expect(cache.operator.show(digest)?.verifyError).toBeUndefined();
});
