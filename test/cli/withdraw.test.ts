import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCentre } from '#central/host.ts';
import { centralCommand } from '#cli/central.ts';
import { runCommand } from './commandLine.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-cli-'));
  await makeCentre(directory);
});
afterAll(() => rm(directory, { recursive: true }));

const withdraw = (...args: string[]) =>
  runCommand(centralCommand(), 'withdraw', ...args, '--directory', directory);
const digest = 'a'.repeat(64);

test('a digest is withdrawn, listed with the machines that run it, and taken back', async () => {
  const shown = { digest, why: 'CVE-2026-1', withdrawnAt: expect.any(String), images: [], nodes: [] };
  expect(JSON.parse(await withdraw(digest, '--why', 'CVE-2026-1'))).toEqual(shown);
  expect(JSON.parse(await withdraw('list'))).toEqual([shown]);
  expect(await withdraw('undo', digest)).toBe('');
  expect(JSON.parse(await withdraw('list'))).toEqual([]);
});

test('a withdrawal needs a reason and a digest', async () => {
  await expect(withdraw(digest)).rejects.toThrow(/--why/);
  await expect(withdraw('--why', 'x')).rejects.toThrow(/digest/);
  await expect(withdraw('not-a-digest', '--why', 'x')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await expect(withdraw('undo', digest)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
