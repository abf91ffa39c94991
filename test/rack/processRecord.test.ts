import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordedProcess, recordProcess } from '#rack/processRecord.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'process-'));
});

afterEach(() => rm(directory, { recursive: true }));

const record = (text: string) => writeFile(path.join(directory, 'supervisor.json'), text);

test('a process that runs is found', async () => {
  await recordProcess(directory);
  expect(await recordedProcess(directory)).toBe(process.pid);
});

test('another process of the same id is not', async () => {
  await record(JSON.stringify({ pid: process.pid, startTime: '1' }));
  expect(await recordedProcess(directory)).toBeUndefined();
});

test('a process that has ended is not', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  await record(JSON.stringify({ pid: child.pid, startTime: '1' }));
  expect(await recordedProcess(directory)).toBeUndefined();
});

test.each(['', '{', '{}', 'null'])('a record of %j is none', async (text) => {
  await record(text);
  expect(await recordedProcess(directory)).toBeUndefined();
});
