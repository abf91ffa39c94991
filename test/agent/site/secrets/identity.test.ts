import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findJoined, readIdentity } from '#agent/join/identity.ts';
import { startSite } from '#agent/site/site.ts';
import { openSealer } from '#base/sealing.ts';
import { findInFiles } from '../../../fakes/markers.ts';
import { setUpBench } from '../bench/bench.ts';

const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;

/** A site that has joined, and how it is run to a start and an end with credentials of systemd by name. */
async function setUp() {
  const bench = await setUpBench();
  const credentials = path.join(bench.directory, 'credentials');
  await mkdir(credentials);
  const runWith = async (files: Record<string, Buffer>) => {
    for (const [name, key] of Object.entries(files))
      await writeFile(path.join(credentials, name), key.toString('base64'));
    const site = await startSite(bench.config, { CREDENTIALS_DIRECTORY: credentials });
    try {
      await bench.centre.until(() => bench.centre.polls.length > 0);
      bench.centre.polls.length = 0;
    } finally {
      await site.close();
    }
  };
  return { bench, runWith };
}

test("with a key elsewhere the site's private keys are encrypted from its first start on, and it works on with them", async () => {
  const { bench, runWith } = await setUp();
  const { stateDirectory } = bench;
  const { privateKey, sealingPrivateKey } = await readIdentity(stateDirectory, 'site');
  await runWith({ 'bcd.at-rest-key': keys[0] });
  const secrets = {
    privateKey: secretPart(privateKey, 36),
    sealingPrivateKey: secretPart(sealingPrivateKey, 16),
  };
  expect(findInFiles([stateDirectory], secrets)).toEqual([]);
  expect(await readIdentity(stateDirectory, 'site', openSealer(keys[0]))).toMatchObject({
    privateKey,
    sealingPrivateKey,
  });
  await runWith({});
  // A new key, with the one before it beside it, takes over; then the old one opens nothing.
  await runWith({ 'bcd.at-rest-key': keys[1], 'bcd.at-rest-key.old': keys[0] });
  expect(await readIdentity(stateDirectory, 'site', openSealer(keys[1]))).toMatchObject({
    privateKey,
    sealingPrivateKey,
  });
  await expect(readIdentity(stateDirectory, 'site', openSealer(keys[0]))).rejects.toMatchObject({
    code: 'INVALID_STATE',
    details: { reason: 'at-rest-key' },
  });
});

test('who the agent is can be told without its keys, and a site without the key at rest says what it lacks', async () => {
  const { bench, runWith } = await setUp();
  await runWith({ 'bcd.at-rest-key': keys[0] });
  expect(await findJoined(bench.stateDirectory)).toMatchObject({ role: 'site' });
  await expect(startSite(bench.config, {})).rejects.toMatchObject({ details: { reason: 'at-rest-key' } });
  const text = await readFile(path.join(bench.stateDirectory, 'identity.json'), 'utf8');
  expect(Object.keys(JSON.parse(text))).toContain('sealedKeys');
});

/** What of a key's PEM nobody else knows: the 32 bytes from `start` of its DER (RFC 5958), as far as they fill characters of base64. */
function secretPart(pem: string, start: number): string {
  const body = pem.split('\n').slice(1, -2).join('');
  return body.slice(Math.ceil(start / 3) * 4, Math.floor((start + 32) / 3) * 4);
}
