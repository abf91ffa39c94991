import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import {
  filesIn,
  imageOf,
  sha256,
  sourceCa,
  startCache,
  startSource,
  temporaryDirectory,
} from './testBench.ts';

const kills = 40;
const contents = Array.from({ length: 3 }, () => randomBytes(300_000));

/** Starts the process and kills it with -9 some milliseconds after it has opened the cache. */
async function runAndKill(args: string[], afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'endlessPuller.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await delay(afterMs);
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('killed at any point, every visible file is whole and the next start is clean', {
  timeout: 120_000,
}, async () => {
  const directory = await temporaryDirectory();
  const caFile = path.join(await temporaryDirectory(), 'ca.pem');
  await writeFile(caFile, sourceCa);
  const source = await startSource((request, socket, count) =>
    serveBytes(contents[Number(request.path.slice(1))] ?? Buffer.alloc(0))(request, socket, count),
  );
  const images = contents.map((content, n) => imageOf(content, `${source.origin}/${n}`));
  const args = [directory, caFile, JSON.stringify(images)];

  let half = 0;
  for (let kill = 0; kill < kills; kill++) {
    await runAndKill(args, Math.random() * 60);
    for (const file of await filesIn(directory)) {
      const isPart = file.startsWith(path.join('v1', 'tmp'));
      if (isPart) half++;
      else expect(sha256(await readFile(path.join(directory, file)))).toBe(path.basename(file));
    }
  }
  // Else the kills missed what they were to hit.
  expect(half).toBeGreaterThan(0);
  expect(source.requests.length).toBeGreaterThan(kills / 2);

  const cache = await startCache({ directory });
  cache.desire(images);
  await Promise.all(images.map((image) => cache.ready(image.digest)));
  expect((await filesIn(directory)).length).toBe(3);
  expect(cache.inventory().images.map((row) => row.state)).toEqual(['ready', 'ready', 'ready']);
});
