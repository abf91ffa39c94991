import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CliEnvironment } from '#cli/client.ts';
import { profilesCommand } from '#cli/profiles.ts';
import { mintToken, startTestCentre, type TestCentre } from '../central/centre.ts';
import { runCommand } from './commandLine.ts';

let centre: TestCentre;
let environment: CliEnvironment;
let folder: string;

beforeAll(async () => {
  centre = await startTestCentre();
  folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-cli-profiles-'));
  const token = await mintToken(centre.directory, ['compute:*@compute-fleet:*']);
  environment = { server: centre.central.apiUrl, token };
});
afterAll(async () => {
  await centre.close();
  await rm(folder, { recursive: true });
});

const tenant = ['--tenant', 'root'];
const profiles = (...args: string[]) => runCommand(profilesCommand(environment), ...args, ...tenant);

async function documentFile(version: number, steps: object[]): Promise<string> {
  const file = path.join(folder, `host-${version}.json`);
  await writeFile(file, JSON.stringify({ id: 'host', version, target: 'metal', steps }));
  return file;
}

test('profiles are created, validated and rendered by the documented commands, the latest version by default', async () => {
  await profiles('create', await documentFile(1, [{ use: 'power.getPower' }]), '--public');
  await profiles('create', await documentFile(2, [{ use: 'power.noSuchStep' }]));
  expect(await profiles('validate', 'host', '--profile-version', '1')).toContain('host: valid');
  await expect(profiles('validate', 'host')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { problems: 1 },
  });
  expect(await profiles('render', 'host', '--profile-version', '1')).toContain('power.getPower');
  const latest = JSON.parse(await profiles('get', 'host', '--format', 'json'));
  expect(latest).toMatchObject({ profileVersion: 2, visibility: 'private' });
});

test('an update takes a file or a visibility, and a version of the row', async () => {
  const file = await documentFile(3, [{ use: 'power.getPower' }]);
  const created = JSON.parse(await profiles('create', file, '--format', 'json'));
  const seen = String(created.rowVersion);
  const replaced = await documentFile(3, [{ use: 'inspect.oob' }]);
  const version = ['--profile-version', '3'];
  const update = (...args: string[]) => profiles('update', 'host', ...version, ...args);
  await update('--file', replaced, '--if-version', seen);
  expect(await profiles('render', 'host', ...version)).toContain('inspect.oob');
  await expect(update('--visibility', 'public', '--if-version', seen)).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  expect(JSON.parse(await update('--visibility', 'public', '--format', 'json'))).toMatchObject({
    visibility: 'public',
  });
});
