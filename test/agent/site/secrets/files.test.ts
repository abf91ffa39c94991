import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCredentials } from '#agent/site/secrets/files.ts';

async function secrets(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-secrets-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await writeFile(path.join(directory, name), text);
  }
  return directory;
}

test('a reference is a file, and only the first colon splits it', async () => {
  const directory = await secrets({ 'bmc/one': 'admin:pa:ss word\n' });
  expect(await readCredentials('secret://bmc/one', { directory })).toEqual({
    username: 'admin',
    password: 'pa:ss word',
  });
});

test("systemd's credentials come first, under a name without slashes", async () => {
  const directory = await secrets({ 'bmc/one': 'old:old' });
  const credentialsDirectory = await secrets({ 'bmc.one': 'new:new' });
  expect(await readCredentials('secret://bmc/one', { directory, credentialsDirectory })).toMatchObject({
    username: 'new',
  });
});

test.each([
  'secret://../etc/shadow',
  'secret://a/../../b',
  'secret:///etc/passwd',
  'secret://a//b',
  'secret://./a',
])('%s cannot lead out of the directory', async (reference) => {
  const directory = await secrets({ a: 'user:password' });
  await expect(readCredentials(reference, { directory })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: reference, reason: 'name' },
  });
});

test('a missing or malformed secret is named, and its text is not told', async () => {
  const directory = await secrets({ two: 'user:secret\nmore', bare: 'justapassword' });
  await expect(readCredentials('secret://none', { directory })).rejects.toMatchObject({
    details: { reason: 'missing' },
  });
  for (const name of ['two', 'bare']) {
    const error = await readCredentials(`secret://${name}`, { directory }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', details: { reason: 'form' } });
    expect(JSON.stringify([error.message, error.details])).not.toMatch(/justapassword|secret\n|more/);
  }
});
