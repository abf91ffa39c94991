import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { version } from '#base/version.ts';
import { startCentral } from '#central/start.ts';
import { bcdCommand } from '#cli/bcd.ts';
import { runCommand } from './commandLine.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-bcd-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('what is built for a site is what a deployed OS downloads from the centre, and it runs', {
  timeout: 180_000,
}, async () => {
  const out = path.join(directory, 'bcd');
  await writeFile(out, 'an older one');
  const printed = await runCommand(bcdCommand(), 'build', '--out', out);
  const digest = /^sha256:([0-9a-f]{64}) \d+\.\d MiB$/m.exec(printed)?.[1];
  expect(printed.split('\n')[0]).toBe(out);
  expect(await run(out, ['--version'])).toContain(version);

  const anywhere = { host: '127.0.0.1', port: 0 };
  const listeners = { api: anywhere, agents: anywhere, names: ['127.0.0.1'] };
  const home = path.join(directory, 'centre');
  const central = await startCentral({ directory: home, ...listeners, executable: out });
  const answer = await fetch(`${central.apiUrl}/bcd/${digest}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  await central.close();
  expect(answer.status).toBe(200);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest);
  const downloaded = path.join(directory, 'downloaded');
  await writeFile(downloaded, bytes);
  await chmod(downloaded, 0o755);
  expect(await run(downloaded, ['--version'])).toContain(version);
});
