import { createHash } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { run } from '#base/command.ts';
import { silentLog } from '#base/log.ts';
import { evictions } from '#cache/desired.ts';
import { hashFile } from '#cache/hashFile.ts';
import { HeldIndex } from '#cache/heldIndex.ts';
import { openCache } from '#cache/imageCache.ts';
import { artifactPath, cachePaths, prepareFolders } from '#cache/path.ts';
import { stampOf } from '#cache/stamp.ts';
import { type Benchmark, median, round, thisMachine } from './benchmark.ts';

const MiB = 1024 ** 2;

/** A cache of many images: how long until it serves, tells its list, decides what to evict; and how fast it reads what it holds. */
export const cache: Benchmark = {
  name: 'cache',
  about: 'a cache of 10,000 images: start, list, eviction; reading again against sha256sum',
  run: async (quick, signal) => {
    const images = quick ? 2000 : 10_000;
    const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-bench-'));
    try {
      console.error(`filling a cache with ${images} images`);
      await fill(directory, images);
      signal.throwIfAborted();
      const many = await manyImages(directory, images);
      const reading = await scrubAgainstSha256sum(directory, quick ? 256 : 1024, quick ? 3 : 5, signal);
      return {
        bench: 'cache',
        ratio: { sha256sum: reading.ratio },
        ours: { ms: many, scrubMBps: reading.ours },
        peers: { sha256sum: { MBps: reading.peer } },
        machine: { ...thisMachine(), images, fileMiB: quick ? 256 : 1024 },
      };
    } finally {
      await rm(directory, { recursive: true });
    }
  },
};

/** Files of a few bytes under digests of their own, with an index that vouches for them: what matters here is how many they are. */
async function fill(directory: string, images: number): Promise<void> {
  const paths = cachePaths(directory);
  await prepareFolders(paths);
  const index = new HeldIndex(paths.index, (error) => {
    throw error;
  });
  index.atomically(() => {
    for (let n = 0; n < images; n++) {
      const digest = createHash('sha256').update(String(n)).digest('hex');
      const file = artifactPath(paths, digest);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, String(n));
      const stamp = stampOf(statSync(file, { bigint: true }));
      const times = { usedAt: n, verifiedAt: Date.now() };
      index.put({ digest, ref: `image@${n}`, ...stamp, ...times });
    }
  });
  index.close();
}

/** Milliseconds, the median of several turns. */
async function manyImages(directory: string, images: number): Promise<Record<string, number>> {
  const times = { start: [] as number[], list: [] as number[], inventory: [] as number[] };
  for (let turn = 0; turn < 5; turn++) {
    const begun = performance.now();
    const cache = await openCache({ directory, quotaBytes: 1024 ** 4, log: silentLog() });
    times.start.push(performance.now() - begun);
    times.list.push(await timed(() => cache.operator.list()));
    times.inventory.push(await timed(() => cache.inventory()));
    await cache.close();
  }
  const eviction = await evictionTimes(images);
  return { ...mapped(times), ...eviction };
}

/** A decision where all fits, which a pull asks for every mebibyte, and one where half of it has to go. */
async function evictionTimes(images: number): Promise<Record<string, number>> {
  const held = Array.from({ length: images }, (_, n) => ({
    digest: String(n),
    sizeBytes: MiB,
    usedAt: (n * 7919) % images,
  }));
  const asked = {
    held: () => held,
    heldBytes: images * MiB,
    keep: (digest: string) => digest.endsWith('7'),
    promisedBytes: 0,
    unwrittenBytes: 0,
    freeBytes: Number.MAX_SAFE_INTEGER,
    reserveBytes: 0,
    quotaBytes: images * MiB,
  };
  const turns = Array.from({ length: 9 }, async () => ({
    fits: await timed(() => evictions({ ...asked, neededBytes: 0 })),
    evicts: await timed(() => evictions({ ...asked, neededBytes: (images / 2) * MiB })),
  }));
  const all = await Promise.all(turns);
  return mapped({
    evictionWhereAllFits: all.map(({ fits }) => fits),
    evictionOfHalf: all.map(({ evicts }) => evicts),
  });
}

/** Both read a file from the disk and hash it, in turn; MB/s. */
async function scrubAgainstSha256sum(
  directory: string,
  mebibytes: number,
  turns: number,
  signal: AbortSignal,
) {
  const file = path.join(directory, 'large');
  await writeNoise(file, mebibytes);
  const { size } = await stat(file);
  const rates = { ours: [] as number[], peer: [] as number[] };
  const rate = async (work: () => Promise<unknown>) => size / 1e6 / ((await timed(work)) / 1000);
  for (let turn = 0; turn < turns; turn++) {
    signal.throwIfAborted();
    rates.ours.push(await rate(() => hashFile(file, { direct: true })));
    rates.peer.push(await rate(() => run('sha256sum', [file])));
  }
  const [ours, peer] = [median(rates.ours), median(rates.peer)];
  return { ours: Math.round(ours), peer: Math.round(peer), ratio: round(ours / peer) };
}

async function writeNoise(file: string, mebibytes: number): Promise<void> {
  const handle = await open(file, 'w');
  const block = Buffer.alloc(MiB, createHash('sha512').update('noise').digest());
  for (let n = 0; n < mebibytes; n++) {
    block.writeUInt32LE(n);
    await handle.write(block);
  }
  await handle.sync();
  await handle.close();
}

async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function mapped(times: Record<string, readonly number[]>): Record<string, number> {
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, round(median(all))]));
}
