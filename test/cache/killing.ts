import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { CacheImage } from '#contract/images.ts';
import type { TestCa } from '../fakes/certificates.ts';
import { issueServerIdentity } from '../fakes/certificates.ts';
import { type RawAnswer, startRawHttps } from '../fakes/rawHttpsServer.ts';

const pieceBytes = 16 * 1024;
const imageBytes = 300_000;

export interface Killed {
  images: CacheImage[];
  /** Temporaries that were left, of all kills: else the kills missed what they were to hit. */
  parts: number;
  /** Visible files whose bytes are not those of their name. */
  wrong: string[];
  requests: number;
  close(): Promise<void>;
}

/** Kills a puller of `directory` again and again with -9, at moments of chance, and looks at each time what is left. */
export async function killRepeatedly(kills: number, directory: string, ca: TestCa): Promise<Killed> {
  const contents = Array.from({ length: 3 }, () => randomBytes(imageBytes));
  const { answer, afterBytes } = meteredAnswer(contents);
  const source = await startRawHttps(await issueServerIdentity(ca), answer);
  const caFile = path.join(path.dirname(directory), `${path.basename(directory)}.pem`);
  await writeFile(caFile, ca.pem);
  const images = contents.map((content, n) => imageOf(content, `${source.origin}/${n}`, n));
  const found = { parts: 0, wrong: [] as string[] };
  for (let kill = 0; kill < kills; kill++) {
    const moment = afterBytes(Math.random() * 2 * imageBytes);
    await runAndKill([directory, caFile, JSON.stringify(images)], moment);
    await lookAt(directory, found);
  }
  return { images, ...found, requests: source.requests.length, close: () => source.close() };
}

/** A source that serves piece by piece and tells when it has sent so many bytes in all. */
function meteredAnswer(contents: readonly Buffer[]) {
  let left = Number.POSITIVE_INFINITY;
  let spent = Promise.withResolvers<void>();
  const answer: RawAnswer = async (request, socket) => {
    const body = contents[Number(request.path.slice(1))] ?? Buffer.alloc(0);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
    for (let at = 0; at < body.length && !socket.destroyed; at += pieceBytes) {
      socket.write(body.subarray(at, at + pieceBytes));
      left -= pieceBytes;
      if (left <= 0) spent.resolve();
      await setImmediate();
    }
  };
  const afterBytes = (bytes: number) => {
    left = bytes;
    spent = Promise.withResolvers();
    return spent.promise;
  };
  return { answer, afterBytes };
}

async function runAndKill(args: string[], moment: Promise<void>): Promise<void> {
  const program = path.join(import.meta.dirname, 'endlessPuller.ts');
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' });
  const gone = once(child, 'exit');
  await Promise.race([moment, gone]);
  // The bytes are sent, not yet written: what follows them (sync, rename, index) is to be hit as well.
  await delay(Math.random() * 15);
  child.kill('SIGKILL');
  await gone;
}

async function lookAt(directory: string, found: { parts: number; wrong: string[] }): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile() && !isOwn(one.name))) {
    if (path.basename(entry.parentPath) === 'tmp') found.parts++;
    else if (sha256(await readFile(path.join(entry.parentPath, entry.name))) !== entry.name)
      found.wrong.push(entry.name);
  }
}

function imageOf(content: Buffer, source: string, n: number): CacheImage {
  const facts = { kind: 'os', format: 'raw', compression: 'none' } as const;
  return {
    ref: `demo@${n}`,
    ...facts,
    digest: sha256(content),
    sizeBytes: content.length,
    sources: [source],
  };
}

/** The cache's own, beside its images. */
function isOwn(name: string): boolean {
  return name.startsWith('index.db') || name.startsWith('lock');
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
