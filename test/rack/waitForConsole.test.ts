import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitForConsole } from '#rack/waitForConsole.ts';

let directory: string;
let machine: { name: string; consoleLog: string };
const stamp = '2026-01-02T03:04:05.678Z ';

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'console-'));
  machine = { name: 'a', consoleLog: path.join(directory, 'console.log') };
  await writeFile(machine.consoleLog, `${stamp}SeaBIOS é\n`);
});

afterEach(() => rm(directory, { recursive: true }));

test('finds what is there, with its time', async () => {
  const { match, at } = await waitForConsole(machine, /^Sea(\w+)/g, { timeoutMs: 1000 });
  expect(match[1]).toBe('BIOS');
  expect(at).toEqual(new Date(stamp.trim()));
});

test('waits for what comes later, in pieces', async () => {
  const found = waitForConsole(machine, /login: $/, { timeoutMs: 5000 });
  await appendFile(machine.consoleLog, `${stamp}log`);
  await appendFile(machine.consoleLog, 'in: ');
  expect((await found).match[0]).toBe('login: ');
});

test('goes on after an earlier match', async () => {
  await appendFile(machine.consoleLog, `${stamp}boot 1\n${stamp}boot 2\n`);
  const first = await waitForConsole(machine, /boot \d/, { timeoutMs: 1000 });
  const second = await waitForConsole(machine, /boot \d/, { timeoutMs: 1000, from: first.end });
  expect([first.match[0], second.match[0]]).toEqual(['boot 1', 'boot 2']);
});

test('does not match the time stamp', async () => {
  await expect(waitForConsole(machine, /2026/, { timeoutMs: 20 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('a time-out shows the last lines', async () => {
  await expect(waitForConsole(machine, /login/, { timeoutMs: 20 })).rejects.toMatchObject({
    message: expect.stringContaining('within 20 ms'),
    details: { reason: 'console-timeout', console: [`${stamp}SeaBIOS é`] },
  });
});

test('an abort ends it with the abort’s reason', async () => {
  const reason = new Error('no longer of interest');
  await expect(
    waitForConsole(machine, /login/, { timeoutMs: 5000, signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason);
});
