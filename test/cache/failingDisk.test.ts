import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { writeFully } from '#cache/gatheredWrites.ts';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { straced } from './strace.ts';
import {
  contentOf,
  filesIn,
  imageOf,
  sourceCa,
  startCache,
  startSource,
  temporaryDirectory,
} from './testBench.ts';

const program = path.join(import.meta.dirname, 'pullOnce.ts');
const bytes = randomBytes(3_500_000);

/** Pulls one image in a process some of whose system calls fail; what it says of the image, and the folder. */
async function pullWhile(inject: string) {
  const directory = await temporaryDirectory();
  const images = path.join(directory, 'images');
  const caFile = path.join(directory, 'ca.pem');
  await writeFile(caFile, sourceCa);
  const source = await startSource(serveBytes(bytes));
  const image = imageOf(bytes, source.origin);
  const [start = '', ...words] = straced([
    '-o',
    '/dev/null',
    '-e',
    `trace=${inject.split(':')[0]}`,
    '-e',
    `inject=${inject}`,
  ]);
  // strace counts each thread's calls by itself: all writes of images are to be one thread's.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const args = [...words, process.execPath, program, images, caFile, JSON.stringify([image])];
  const { stdout } = await promisify(execFile)(start, args, { env });
  return { said: JSON.parse(stdout), images, image };
}

test.each([
  ['a write that fails (EIO)', 'pwritev:error=EIO:when=2+', 'EIO'],
  ['a flush that fails (EIO)', 'fsync:error=EIO:when=4', 'EIO'],
  ['a disk that has become read-only', 'pwritev:error=EROFS:when=2+', 'EROFS'],
  ['a full disk', 'pwritev:error=ENOSPC:when=2+', undefined],
])(
  '%s ends the pull in plain words, shows nothing, and the next start is clean',
  async (_, inject, cause) => {
    const { said, images, image } = await pullWhile(inject);
    const expected = cause === undefined ? { reason: 'no-space' } : { reason: 'cache-disk', cause };
    expect(said.error).toMatchObject({ code: 'DRIVER_ERROR', details: expected });
    expect(await filesIn(images)).toEqual([]);
    const cache = await startCache({ directory: images });
    cache.desire([image]);
    await cache.ready(image.digest);
    expect(await contentOf(cache, image.digest)).toEqual(bytes);
  },
);

test('an index that takes no write is done without: the image is served all the same', async () => {
  const { said, images, image } = await pullWhile('fdatasync:error=EIO:when=1+');
  expect(said).toMatchObject({ state: 'ready' });
  const cache = await startCache({ directory: images });
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
});

test('short writes go on where they stopped', async () => {
  const file = path.join(await temporaryDirectory(), 'file');
  const handle = await open(file, 'w+');
  const short = {
    writev: ([first = Buffer.of(), ...rest]: Buffer[], at: number) =>
      first.length > 1000
        ? handle.writev([first.subarray(0, 1000)], at)
        : handle.writev([first, ...rest.slice(0, 1)], at),
  };
  const parts = [bytes.subarray(0, 700), bytes.subarray(700, 700), bytes.subarray(700, 10_500)];
  await writeFully(short as never, parts, 0);
  await writeFully(short as never, [bytes.subarray(10_500, 20_000)], 10_500);
  expect((await handle.readFile()).equals(bytes.subarray(0, 20_000))).toBe(true);
  await handle.close();
});

test('bytes that the disk never wrote are found before anybody gets them, after a restart', async () => {
  // The disk says that it wrote, and did not.
  const { said, images, image } = await pullWhile('pwritev:retval=1000:when=2');
  const cache = await startCache({ directory: images });
  if (said.state === 'ready') {
    expect(await cache.open(image.digest)).toBeUndefined();
    const reason = () => cache.state(image.digest)?.error?.details?.reason;
    await expect.poll(reason, { timeout: 5000 }).toBe('bit-rot');
    expect(await readdir(path.join(images, 'v1/quarantine'))).toEqual([image.digest]);
  }
  cache.desire([image]);
  await cache.ready(image.digest);
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
});
