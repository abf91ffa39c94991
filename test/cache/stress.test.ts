import { randomBytes, randomInt } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { ImageCache } from '#cache/imageCache.ts';
import { RailheadError } from '#contract/errors.ts';
import type { CacheImage } from '#contract/images.ts';
import { contentOf, imageOf, sha256, startCache, temporaryDirectory } from './testBench.ts';

const contents = Array.from({ length: 4 }, () => randomBytes(randomInt(1, 300_000)));
const images = contents.map((bytes) => imageOf(bytes, 'https://127.0.0.1:1/x'));
const runMs = 2000;
const workers = 10;

const any = <Value>(values: readonly Value[]): Value => values[randomInt(values.length)] as Value;
const someOf = (from: readonly CacheImage[]) => from.filter(() => randomInt(3) === 0);
const imported = (cache: ImageCache, bytes: Buffer) =>
  cache.operator.importImage(Readable.from([bytes]), {
    ...{ digest: sha256(bytes), sizeBytes: bytes.length },
    known: (digest) => images.find((image) => image.digest === digest),
  });

/** What an operator with a shell does: another file under the name, at once. */
async function replaceFile(directory: string, digest: string, bytes: Buffer): Promise<void> {
  const file = path.join(directory, 'v1/sha256', digest.slice(0, 2), digest);
  const other = path.join(directory, randomBytes(6).toString('hex'));
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(other, bytes);
  await rename(other, file);
}

type Act = (cache: ImageCache, n: number, directory: string) => Promise<unknown>;

/** Bytes that the cache gives are right, always. */
const readWhole: Act = async (cache, n) => {
  const held = await cache.open(images[n]!.digest);
  if (held === undefined) return;
  const head = await held.head(held.sizeBytes).finally(() => held.close());
  if (!head.equals(contents[n]!)) throw new Error('wrong bytes were served');
};

const acts: Act[] = [
  (cache, n) => imported(cache, contents[n]!),
  (cache, n) => imported(cache, contents[n]!),
  (cache, n) => cache.operator.evict(images[n]!.digest),
  (cache, n) => cache.operator.verify(images[n]!.digest),
  (cache) => cache.operator.collectGarbage({ unused: true }),
  async (cache) =>
    cache.desire(
      someOf(images),
      someOf(images)
        .slice(0, 1)
        .map(({ digest }) => digest),
    ),
  async (cache, n) => cache.keep(randomInt(2) === 0 ? [] : [{ digest: images[n]!.digest }]),
  (_, n, directory) => replaceFile(directory, images[n]!.digest, randomBytes(contents[n]!.length)),
  (_, n, directory) => replaceFile(directory, images[n]!.digest, contents[n]!),
  readWhole,
  readWhole,
];

test('whatever is done to a few images at once, errors are in words and the cache says what the disk has', async () => {
  const directory = await temporaryDirectory();
  const cache = await startCache({ directory, scrub: { bytesPerSecond: 1e9, everyMs: 50 } });
  const raw: unknown[] = [];
  const counts = { done: 0, refused: 0 };
  const until = Date.now() + runMs;
  const work = async () => {
    while (Date.now() < until) {
      await any(acts)(cache, randomInt(images.length), directory).then(
        () => counts.done++,
        (error) => {
          if (error instanceof RailheadError) counts.refused++;
          else raw.push(error);
        },
      );
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  expect(raw).toEqual([]);
  expect(counts.done).toBeGreaterThan(100);
  await agreesWithDisk(cache, directory);
}, 20_000);

async function agreesWithDisk(cache: ImageCache, directory: string): Promise<void> {
  cache.keep([]);
  cache.desire([]);
  // Whoever opens finds what was changed behind the cache's back.
  for (const { digest } of images) await (await cache.open(digest))?.close();
  const said = await readyOnes(cache);
  const found = await wholeFiles(directory);
  // A right file that somebody put there is found at the next start.
  expect(said.filter((digest) => !found.includes(digest))).toEqual([]);
  for (const digest of said) expect(sha256(await contentOf(cache, digest))).toBe(digest);
  await cache.close();
  expect(await readyOnes(await startCache({ directory }))).toEqual(found);
}

/** Once nothing moves any more. */
async function readyOnes(cache: ImageCache): Promise<string[]> {
  const states = () => images.map(({ digest }) => cache.state(digest)?.state);
  const moving = () => states().filter((state) => state === 'pulling' || state === 'evicting');
  await expect.poll(moving, { timeout: 5000 }).toEqual([]);
  return images.map(({ digest }) => digest).filter((digest) => cache.state(digest)?.state === 'ready');
}

async function wholeFiles(directory: string): Promise<string[]> {
  const digests = images.map(async ({ digest }) => {
    const file = path.join(directory, 'v1/sha256', digest.slice(0, 2), digest);
    const isWhole = sha256(await readFile(file).catch(() => '')) === digest;
    return isWhole ? [digest] : [];
  });
  return (await Promise.all(digests)).flat();
}
