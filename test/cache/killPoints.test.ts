import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RawAnswer } from '../fakes/rawHttpsServer.ts';
import {
  filesIn,
  imageOf,
  sha256,
  sourceCa,
  startCache,
  startSource,
  temporaryDirectory,
} from './testBench.ts';

const pieceBytes = 16 * 1024;
const contents = Array.from({ length: 3 }, () => randomBytes(300_000));

/** A source that serves piece by piece and tells when it has sent so many bytes in all. */
function meteredAnswer() {
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

/** Starts the process and kills it with -9 once `moment` has come. */
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

async function partsAmong(directory: string): Promise<number> {
  let parts = 0;
  for (const file of await filesIn(directory)) {
    if (file.startsWith(path.join('v1', 'tmp'))) parts++;
    else expect(sha256(await readFile(path.join(directory, file)))).toBe(path.basename(file));
  }
  return parts;
}

/** Kills a puller of its own directory again and again, then looks at what is left. */
async function killRepeatedly(kills: number): Promise<void> {
  const directory = await temporaryDirectory();
  const caFile = path.join(await temporaryDirectory(), 'ca.pem');
  await writeFile(caFile, sourceCa);
  const { answer, afterBytes } = meteredAnswer();
  const source = await startSource(answer);
  const images = contents.map((content, n) => imageOf(content, `${source.origin}/${n}`));

  let parts = 0;
  for (let kill = 0; kill < kills; kill++) {
    const moment = afterBytes(Math.random() * 2 * 300_000);
    await runAndKill([directory, caFile, JSON.stringify(images)], moment);
    parts += await partsAmong(directory);
  }
  // Else the kills missed what they were to hit.
  expect(parts).toBeGreaterThan(0);
  expect(source.requests.length).toBeGreaterThanOrEqual(kills);

  const cache = await startCache({ directory });
  cache.desire(images);
  await Promise.all(images.map((image) => cache.ready(image.digest)));
  expect((await filesIn(directory)).length).toBe(3);
  expect(cache.inventory().images.map((row) => row.state)).toEqual(['ready', 'ready', 'ready']);
}

test('killed at any of 40 points, every visible file is whole and the next start is clean', {
  timeout: 180_000,
}, async () => {
  await Promise.all([killRepeatedly(20), killRepeatedly(20)]);
});
