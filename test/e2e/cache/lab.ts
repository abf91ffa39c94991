import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import type { CacheDetail, CacheOverview } from '#cache/operator.ts';
import type { CacheImage } from '#contract/images.ts';
import { issueServerIdentity, makeTestCa } from '../../fakes/certificates.ts';
import { type RawHttpsServer, serveBytes, startRawHttps } from '../../fakes/rawHttpsServer.ts';
import { eventually } from '../loopback/withLab.ts';
import type { Settings } from './site.ts';

export const MiB = 1024 ** 2;

export type Listing = CacheOverview & { images: CacheDetail[] };

/** A site's cache that runs, by what it says and serves. */
export interface CacheSite {
  /** Its log, line by line. */
  lines: readonly string[];
  imageUrl(image: CacheImage): string;
  listing(): Promise<Listing>;
  row(image: CacheImage): Promise<CacheDetail | undefined>;
  /** Whether the image comes to be in this state in time. */
  comesTo(image: CacheImage, state: CacheDetail['state'], timeoutMs?: number): Promise<boolean>;
  /** What a machine gets: the status, and whether the bytes are the image's. */
  fetch(image: CacheImage): Promise<{ status: number; isWhole: boolean }>;
  kill(): Promise<void>;
}

export interface CacheLab {
  directory: string;
  source: RawHttpsServer;
  sourceCa: string;
  /** An image of random bytes that the source has. */
  image(name: string, sizeBytes: number): CacheImage;
  /** Starts the cache; `prefix` is a program that it is started by, e.g. strace. */
  start(
    settings: Partial<Settings> & Pick<Settings, 'images'>,
    prefix?: readonly string[],
  ): Promise<CacheSite>;
}

const program = path.join(import.meta.dirname, 'site.ts');

/** Runs `body` with a source on loopback and a folder of its own; ends what it has started. */
export async function withCacheLab(body: (lab: CacheLab) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-cache-'));
  const contents = new Map<string, Buffer>();
  const ca = await makeTestCa();
  const source = await startRawHttps(await issueServerIdentity(ca), (asked, socket, count) =>
    serveBytes(contents.get(asked.path) ?? Buffer.alloc(0))(asked, socket, count),
  );
  const running: ChildProcess[] = [];
  const common = { directory: path.join(directory, 'images'), quotaBytes: 1024 ** 3, sourceCa: ca.pem };
  try {
    await body({
      directory,
      source,
      sourceCa: ca.pem,
      image: (name, sizeBytes) => {
        const bytes = randomBytes(sizeBytes);
        contents.set(`/${name}`, bytes);
        return imageOf(name, bytes, source.origin);
      },
      start: (settings, prefix = []) => startSite({ ...common, ...settings }, prefix, running),
    });
  } finally {
    for (const child of running) await end(child);
    await source.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function imageOf(name: string, bytes: Buffer, origin: string): CacheImage {
  const facts = { kind: 'os', format: 'raw', compression: 'none' } as const;
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { ref: `${name}@1`, ...facts, digest, sizeBytes: bytes.length, sources: [`${origin}/${name}`] };
}

async function startSite(
  settings: Settings,
  prefix: readonly string[],
  running: ChildProcess[],
): Promise<CacheSite> {
  const words = [...prefix, process.execPath, program, JSON.stringify(settings)];
  // A group of its own: a tracer that is killed leaves what it traces running.
  const child = spawn(words[0] ?? '', words.slice(1), {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  running.push(child);
  const lines: string[] = [];
  const { url, rowsUrl } = await addresses(child, lines);
  const imageUrl = ({ digest }: CacheImage) => `${url}/images/sha256/${digest}`;
  const listing = async () => (await (await request(rowsUrl)).body.json()) as Listing;
  const row = async ({ digest }: CacheImage) =>
    (await listing()).images.find((image) => image.digest === digest);
  return {
    lines,
    imageUrl,
    listing,
    row,
    comesTo: async (image, state, timeoutMs = 20_000) => {
      const found = async () => ((await row(image))?.state === state ? true : undefined);
      return (await eventually(found, timeoutMs)) ?? false;
    },
    fetch: async (image) => {
      const { statusCode: status, body } = await request(imageUrl(image));
      const hash = createHash('sha256');
      for await (const part of body) hash.update(part as Buffer);
      return { status, isWhole: hash.digest('hex') === image.digest };
    },
    kill: () => end(child),
  };
}

async function addresses(child: ChildProcess, lines: string[]): Promise<{ url: string; rowsUrl: string }> {
  const reading = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the cache did not start:\n${lines.slice(-20).join('\n')}`);
  });
  const serves = new Promise<{ url: string; rowsUrl: string }>((resolve) => {
    reading.on('line', (line) => {
      lines.push(line);
      if (line.startsWith('{"url"')) resolve(JSON.parse(line));
    });
  });
  ended.catch(() => {});
  return Promise.race([serves, ended]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}
