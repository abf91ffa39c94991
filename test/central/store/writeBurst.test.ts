import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { makeCentre, onHost } from '#central/host.ts';
import { apiClient, mintToken, osImage } from '../centre.ts';
import { centreDirectory } from '../directory.ts';

const kills = 3;
const writers = 8;

let directory: string;
let child: ChildProcess | undefined;
afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

async function startProcess(): Promise<string> {
  const entry = path.join(import.meta.dirname, '../centreProcess.ts');
  child = spawn(process.execPath, [entry, directory, '', '0', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line')) as [string];
  return (JSON.parse(line) as { apiUrl: string }).apiUrl;
}

/** Registers one image after the other until the centre is gone; calls `acknowledged` with each that was answered. */
async function writeOn(apiUrl: string, token: string, name: string, acknowledged: (ref: string) => void) {
  const call = apiClient(apiUrl, token);
  for (let turn = 0; ; turn++) {
    const ref = `${name}@${turn}`;
    const answer = await call('images.register', osImage({ ref })).catch(() => undefined);
    if (answer === undefined) return;
    if (answer.status === 200) acknowledged(ref);
  }
}

function storedRefs(): Promise<string[]> {
  return onHost(directory, async ({ store }) => {
    const rows = await store.selectFrom('images').select('ref').execute();
    return rows.map(({ ref }) => ref);
  });
}

test('a centre that is killed in the middle of writes, again and again, loses none that it acknowledged', {
  timeout: 60_000,
}, async () => {
  directory = await centreDirectory();
  await makeCentre(directory);
  const token = await mintToken(directory, ['compute:*@compute-fleet:*'], 120_000);
  const acknowledged: string[] = [];
  for (let round = 0; round < kills; round++) {
    const apiUrl = await startProcess();
    const { promise: busy, resolve } = Promise.withResolvers<void>();
    const enough = acknowledged.length + 20 * (round + 1);
    const note = (ref: string) => {
      acknowledged.push(ref);
      if (acknowledged.length >= enough) resolve();
    };
    const writing = Array.from({ length: writers }, (_, at) =>
      writeOn(apiUrl, token, `r${round}w${at}`, note),
    );
    await busy;
    child?.kill('SIGKILL');
    await Promise.all(writing);
    expect(await storedRefs()).toEqual(expect.arrayContaining(acknowledged));
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(20 * kills);
});
