import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepNewest } from '#base/keepNewest.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'keep-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function entry(name: string, hoursAgo: number): Promise<void> {
  const file = path.join(directory, name);
  if (name.endsWith('/')) await mkdir(file);
  else await writeFile(file, name);
  const time = new Date(Date.now() - hoursAgo * 3_600_000);
  await utimes(file, time, time);
}

test('what was used last stays, whole folders go', async () => {
  await entry('old/', 3);
  await entry('older', 4);
  await entry('new', 1);
  await keepNewest(directory, 'new', 2);
  expect((await readdir(directory)).sort()).toEqual(['new', 'old']);
});

test('what is in use counts as new whenever it was made', async () => {
  await entry('made-long-ago', 100);
  await entry('made-today', 1);
  await keepNewest(directory, 'made-long-ago', 1);
  expect(await readdir(directory)).toEqual(['made-long-ago']);
});

test('a half-done entry is left to its builder for an hour', async () => {
  await entry('used', 0);
  await entry('.partial-running/', 0.5);
  await entry('.partial-killed/', 2);
  await keepNewest(directory, 'used', 1);
  expect((await readdir(directory)).sort()).toEqual(['.partial-running', 'used']);
});
