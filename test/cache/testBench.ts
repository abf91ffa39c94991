import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { silentLog } from '#base/log.ts';
import { type CacheOptions, type ImageCache, openCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';
import { issueServerIdentity, makeTestCa } from '../fakes/certificates.ts';
import { hastyClock } from '../fakes/clocks.ts';
import { type RawAnswer, type RawHttpsServer, startRawHttps } from '../fakes/rawHttpsServer.ts';

const ca = await makeTestCa();
const identity = await issueServerIdentity(ca);
export const testCa = ca;
export const sourceCa = ca.pem;

export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** An unsigned OS image of these bytes. */
export function imageOf(bytes: Buffer, source: string, more: Partial<CacheImage> = {}): CacheImage {
  return {
    ref: 'demo@1',
    kind: 'os',
    digest: sha256(bytes),
    sizeBytes: bytes.length,
    format: 'raw',
    compression: 'none',
    sources: [source],
    ...more,
  };
}

export async function startSource(answer: RawAnswer): Promise<RawHttpsServer> {
  const server = await startRawHttps(identity, answer);
  onTestFinished(() => server.close());
  return server;
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-cache-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A cache that trusts the test's CA, with pauses a hundred times shorter. */
export async function startCache(
  options: Partial<CacheOptions> & { directory: string },
): Promise<ImageCache> {
  const cache = await openCache({
    quotaBytes: 1024 ** 3,
    sourceCa,
    log: silentLog(),
    clock: hastyClock(100),
    timeouts: { connectMs: 5000, idleMs: 5000 },
    ...options,
  });
  onTestFinished(() => cache.close());
  return cache;
}

/** The cache's own, beside its images. */
const isOwn = (name: string) => name.startsWith('index.db') || name.startsWith('lock');

/** Names of all files of a cache but its own. */
export async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !isOwn(entry.name));
  return files.map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
}

export async function contentOf(
  cache: ImageCache,
  digest: string,
  start?: number,
  end?: number,
): Promise<Buffer> {
  const held = await cache.open(digest);
  if (held === undefined) throw new Error('not held');
  try {
    const chunks: Buffer[] = [];
    const target = new Writable({
      write: (chunk, _encoding, done) => {
        // Copied: the buffer is filled again once it is done with.
        chunks.push(Buffer.from(chunk));
        done();
      },
    });
    await held.sendTo(target, start ?? 0, end ?? held.sizeBytes);
    return Buffer.concat(chunks);
  } finally {
    await held.close();
  }
}
