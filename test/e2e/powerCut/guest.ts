/**
 * What runs in the machine whose power is cut: the site's cache on a disk of its own, and a source beside it. Says on the console what it
 * finds, then pulls, and says of each image when it is ready. `CYCLE` is the number of this boot; in the `LAST` one nothing is pulled.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { openLog } from '#base/log.ts';
import { type ImageCache, openCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';
import { issueServerIdentity, makeTestCa } from '../../fakes/certificates.ts';
import { serveBytes, startRawHttps } from '../../fakes/rawHttpsServer.ts';
import { imageBytes, imageDigest, imagesOfCycle } from './images.ts';

const data = '/data';
const cycle = Number(process.env.CYCLE);

async function main(): Promise<void> {
  const ca = await makeTestCa();
  const source = await startRawHttps(await issueServerIdentity(ca), (request, socket, count) =>
    serveBytes(imageBytes(Number(request.path.slice(1))))(request, socket, count),
  );
  const cache = await openCache({
    directory: path.join(data, 'images'),
    quotaBytes: 1024 ** 3,
    sourceCa: ca.pem,
    log: openLog('bcd', 'warn'),
  });
  await tellWhatIsHere(cache);
  if (process.env.LAST === undefined) await pullAll(cache, source.origin);
  say('END');
}

async function tellWhatIsHere(cache: ImageCache): Promise<void> {
  const held = await readyImages(cache);
  say('HELD', held.length);
  for (const digest of held) say('SERVED', digest, await servedDigest(cache, digest));
  say('FILES', JSON.stringify(filesUnder(path.join(data, 'images/v1'))));
  say('PLAIN', JSON.stringify(plainFiles()));
  say('CHECKED');
}

function say(...words: (string | number)[]): void {
  // Straight to the console: what was said must have left the machine before the next step.
  writeFileSync('/dev/ttyS0', `RAILHEAD-CACHE ${words.join(' ')}\n`);
}

/** What is held once every file that no record vouched for has been hashed. */
async function readyImages(cache: ImageCache): Promise<string[]> {
  const files = filesUnder(path.join(data, 'images/v1/sha256')).length;
  const settled = () => {
    const { images } = cache.inventory();
    // A file that is being hashed has the row of an image on its way.
    return images.length >= files && images.every(({ state }) => state !== 'pulling');
  };
  for (let tries = 0; !settled() && tries < 100; tries++) await new Promise((done) => setTimeout(done, 100));
  return cache.inventory().images.flatMap(({ digest, state }) => (state === 'ready' ? [digest] : []));
}

/** The digest of what a machine would get. */
async function servedDigest(cache: ImageCache, digest: string): Promise<string> {
  const opened = await cache.open(digest);
  if (opened === undefined) return 'nothing';
  const hash = createHash('sha256');
  const target = new Writable({
    write: (chunk, _encoding, done) => {
      hash.update(chunk);
      done();
    },
  });
  await opened.sendTo(target, 0, opened.sizeBytes);
  await opened.close();
  return hash.digest('hex');
}

function filesUnder(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

/** Files that were written without being flushed, and how long they are: they show that the cut was one. */
function plainFiles(): [name: string, bytes: number][] {
  return readdirSync(data)
    .filter((name) => name.startsWith('plain-'))
    .map((name) => [name, readFileSync(path.join(data, name)).length]);
}

async function pullAll(cache: ImageCache, origin: string): Promise<void> {
  const images = Array.from({ length: imagesOfCycle }, (_, index) => imageOf(cycle * 1000 + index, origin));
  cache.desire(images);
  await Promise.all(
    images.map(async ({ digest }) => {
      await cache.ready(digest);
      say('READY', digest);
      writeFileSync(path.join(data, `plain-${digest.slice(0, 16)}`), Buffer.alloc(100_000, 1));
    }),
  );
}

function imageOf(number: number, origin: string): CacheImage {
  const sizeBytes = imageBytes(number).length;
  const facts = { kind: 'os', format: 'raw', compression: 'none' } as const;
  const sources = [`${origin}/${number}`];
  return { ref: `image${number}@1`, ...facts, digest: imageDigest(number), sizeBytes, sources };
}

main().catch((error) => say('FAILED', String(error?.stack ?? error)));
