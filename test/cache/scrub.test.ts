import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '#base/command.ts';
import { silentLog } from '#base/log.ts';
import type { HashOptions } from '#cache/hashFile.ts';
import type { Damage, HeldRecord } from '#cache/heldIndex.ts';
import { nextToRead, startScrub } from '#cache/scrub.ts';
import { hastyClock, steppingClock } from '../fakes/clocks.ts';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { contentOf, imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

const bytes = randomBytes(3_000_000);

async function heldImage(scrub?: { bytesPerSecond: number; everyMs: number }) {
  const directory = await temporaryDirectory();
  const source = await startSource(serveBytes(bytes));
  const image = imageOf(bytes, source.origin);
  const damages: Damage[] = [];
  const options = {
    directory,
    onDamage: (damage: Damage) => void damages.push(damage),
    ...(scrub && { scrub }),
  };
  const cache = await startCache(options);
  cache.desire([image]);
  await cache.ready(image.digest);
  const file = path.join(directory, 'v1/sha256', image.digest.slice(0, 2), image.digest);
  return { directory, cache, image, file, damages };
}

/** As a disk does it: neither size nor times tell. */
async function flipBit(file: string): Promise<void> {
  const times = `${file}.times`;
  await run('touch', ['-r', file, times]);
  const handle = await open(file, 'r+');
  await handle.write(Buffer.from([(bytes[2_000_000] ?? 0) ^ 1]), 0, 1, 2_000_000);
  await handle.sync();
  await handle.close();
  await run('touch', ['-r', times, file]);
  await rm(times);
}

/** As if nobody had written to the file: a disk that rots does not set its change time. */
function keepStamp(directory: string, file: string): void {
  const index = new Database(path.join(directory, 'v1/index.db'));
  const { ctimeNs } = statSync(file, { bigint: true });
  index.prepare('UPDATE held SET ctime_ns = ?').run(String(ctimeNs));
  index.close();
}

const record = (digest: string, verifiedAt: number): HeldRecord => ({
  digest,
  ref: digest,
  sizeBytes: 1,
  mtimeNs: 0n,
  ctimeNs: 0n,
  ino: 0n,
  usedAt: 0,
  verifiedAt,
});

test('what waited longest is read next; what was read lately waits', () => {
  const held = [record('new', 900), record('old', 100), record('middle', 500)];
  expect(nextToRead(held, 1100, 1000)).toEqual({ next: record('old', 100), pauseMs: 0 });
  expect(nextToRead(held, 1050, 1000)).toEqual({ pauseMs: 50 });
  expect(nextToRead([], 0, 1000)).toEqual({ pauseMs: 1000 });
});

test('what was read in the future, by a clock that was wrong, is read at once', () => {
  const held = [record('ahead', 90_000), record('lately', 900)];
  expect(nextToRead(held, 1000, 1000)).toEqual({ next: record('ahead', 90_000), pauseMs: 0 });
});

test('a flipped bit goes to quarantine and the image comes back', async () => {
  const { directory, cache, image, file, damages } = await heldImage({ bytesPerSecond: 1e9, everyMs: 100 });
  const failed = Promise.withResolvers<void>();
  cache.onChange(() => {
    if (cache.state(image.digest)?.error?.details?.reason === 'bit-rot') failed.resolve();
  });
  await flipBit(file);
  await failed.promise;
  expect(damages).toMatchObject([{ digest: image.digest, ref: 'demo@1', reason: 'bit-rot' }]);
  expect(await readdir(path.join(directory, 'v1/quarantine'))).toEqual([image.digest]);
  await cache.ready(image.digest);
  expect(await contentOf(cache, image.digest)).toEqual(bytes);
  expect((await readFile(file)).equals(bytes)).toBe(true);
});

test('after a restart an image is hashed before its first byte is served', async () => {
  const { directory, cache, image, file } = await heldImage();
  await cache.close();
  await flipBit(file);
  keepStamp(directory, file);
  const again = await startCache({ directory });
  expect(again.state(image.digest)).toMatchObject({ state: 'ready' });
  expect(await again.open(image.digest)).toBeUndefined();
  expect(again.state(image.digest)).toMatchObject({
    state: 'failed',
    error: { details: { reason: 'bit-rot' } },
  });
  await again.close();
  const third = await startCache({ directory });
  expect(third.state(image.digest)).toMatchObject({ state: 'failed' });
});

test('the scrub reads no faster than it may', async () => {
  const verified: number[] = [];
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const ended = Promise.withResolvers<void>();
  const store = {
    held: () => (verified.length === 0 ? [record('a', -1000)] : []),
    verify: async (_: string, { onRead, pace }: Required<HashOptions>) => {
      for (let block = 0; block < 10; block++) {
        onRead(1_000_000);
        await pace(1_000_000);
      }
      verified.push(now);
      ended.resolve();
      return true;
    },
  };
  const scrub = startScrub(
    store as never,
    { bytesPerSecond: 2_000_000, everyMs: 1000 },
    { clock, steady: clock, log: silentLog(), onFault: () => {}, onLost: () => {} },
  );
  onTestFinished(() => scrub.close());
  await ended.promise;
  expect(verified).toEqual([5000]);
  expect(scrub.state.totalBytes).toBe(10_000_000);
});

test('a file that vanished is missed by the scrub, and pulled again', async () => {
  const { image, file } = await heldImage({ bytesPerSecond: 1e9, everyMs: 100 });
  await rm(file);
  const isBack = () =>
    readFile(file).then(
      (found) => found.equals(bytes),
      () => false,
    );
  await expect.poll(isBack, { timeout: 5000 }).toBe(true);
  expect(image.digest).toBe(path.basename(file));
});

test('a clock that is set back in the middle of a reading does not make it sleep', async () => {
  const steady = steppingClock();
  const day = { now: steady.now() + 90_000_000 };
  const clock = { now: () => day.now, sleep: () => Promise.reject(new Error('not for durations')) };
  const ended = Promise.withResolvers<void>();
  let reads = 0;
  const store = {
    held: () => (reads++ === 0 ? [record('a', 0)] : []),
    verify: async (_: string, { pace }: Required<HashOptions>) => {
      await pace(1_000_000);
      day.now -= 80_000_000;
      await pace(1_000_000);
      ended.resolve();
      return true;
    },
  };
  const options = { bytesPerSecond: 1_000_000, everyMs: 1000 };
  const parts = { clock, steady, log: silentLog(), onFault: () => {}, onLost: () => {} };
  const scrub = startScrub(store as never, options, parts);
  await ended.promise;
  expect(steady.sleeps.slice(0, 2)).toEqual([1000, 1000]);
  await scrub.close();
});

test('an image that cannot be read now is let be for a while, and told; the others are read', async () => {
  const steady = hastyClock(1000);
  const faults: unknown[] = [];
  const read: string[] = [];
  const both = Promise.withResolvers<void>();
  const store = {
    held: () => [record('bad', 0), record('good', 1)],
    verify: async (digest: string) => {
      read.push(digest);
      if (read.length > 5) both.resolve();
      if (digest === 'bad') throw new Error('too many open files');
      return true;
    },
  };
  const parts = {
    ...{ clock: steady, steady, log: silentLog(), onLost: () => {} },
    onFault: (error: unknown) => void faults.push(error),
  };
  const scrub = startScrub(store as never, { bytesPerSecond: 1e9, everyMs: 1 }, parts);
  await both.promise;
  await scrub.close();
  expect(faults.length).toBe(1);
  expect(read.slice(0, 4)).toEqual(['bad', 'good', 'good', 'good']);
});

test('an operator waits for no slow scrub, and may remove what it reads', async () => {
  const { cache, image } = await heldImage({ bytesPerSecond: 1000, everyMs: 1 });
  const isRead = () => cache.operator.show(image.digest)?.verifiedBytes ?? 0;
  await expect.poll(isRead).toBeGreaterThan(0);
  expect(await cache.operator.verify(image.digest)).toBe(true);
  await expect.poll(isRead).toBeGreaterThan(0);
  cache.desire([]);
  await cache.operator.evict(image.digest);
  expect(cache.state(image.digest)).toBeUndefined();
});
