import { createPrivateKey } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { readIdentity } from '#agent/join/identity.ts';
import { join } from '#agent/join/join.ts';
import { isENOENT } from '#base/errors.ts';
import { openText, sealText } from '#base/jwe.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { agentSealingKey } from '#central/join/agents.ts';
import { issueServer } from '#central/join/authority.ts';
import { wellKnown } from '#central/join/pins.ts';
import { hasCode } from '#contract/errors.ts';
import { type JoiningSite, setUp, standIn } from './joiningSite.ts';

const wrongPin = `sha256/${'A'.repeat(43)}=`;

test('a site joins by three pins and a token, and is then let in by its certificate', async () => {
  const { options, siteId } = await setUp();
  await join(options);
  const identity = await readIdentity(options.stateDirectory, 'site');
  expect(identity).toMatchObject({ role: 'site', nodeId: siteId, server: options.server });

  const { ca, certificate: cert, privateKey: key } = identity;
  const dispatcher = new Agent({ connect: { ca, cert, key } });
  onTestFinished(() => dispatcher.close());
  const poll = { protocol: 1, observedGeneration: 0, waitSeconds: 0, taken: [] };
  const answer = await request(`${options.server}/v1/agent/poll`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(poll),
  });
  expect(answer.statusCode).toBe(200);
  expect(await answer.body.json()).toMatchObject({ spec: { nodeId: siteId } });
});

test('the identity is readable by its owner alone, and the token file is gone', async () => {
  const { options } = await setUp();
  await join(options);
  const file = path.join(options.stateDirectory, 'identity.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await stat(options.tokenFile).catch(isENOENT)).toBe(true);
  expect(await stat(path.join(options.stateDirectory, 'pending-keys.json')).catch(isENOENT)).toBe(true);
});

test.each(['servingCaPin', 'joinSigningPin', 'joinEncryptionPin'] as const)(
  'a wrong %s is refused before the token leaves',
  async (name) => {
    const { options } = await setUp();
    const refused = await join({ ...options, [name]: wrongPin }).catch((error) => error);
    expect(refused).toMatchObject({
      code: 'FORBIDDEN',
      details: { path: name, reason: 'pin', expected: wrongPin },
    });
    expect(await join(options)).toMatchObject({ nodeId: options.nodeId });
  },
);

test('the sealing key is made here, and its public half is in the books of the centre', async () => {
  const { options, siteId, store } = await setUp();
  await join(options);
  const { sealingPrivateKey } = await readIdentity(options.stateDirectory, 'site');
  const booked = await agentSealingKey(store, { role: 'site', id: siteId });
  const sealed = await sealText('railhead-test', 'a secret', publicKeyFromJwk(booked));
  expect(await openText('railhead-test', sealed, createPrivateKey(sealingPrivateKey))).toBe('a secret');
});

test('a token that was used by another key is refused by name', async () => {
  const { options, token } = await setUp();
  await join(options);
  await writeFile(options.tokenFile, token);
  const other = { ...options, stateDirectory: `${options.stateDirectory}-2` };
  await expect(join(other)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', details: { reason: 'used' } });
});

test('a join whose answer was lost is repeated with the same key', async () => {
  const { options, token } = await setUp();
  await join(options);
  const { privateKey, sealingPrivateKey } = await readIdentity(options.stateDirectory, 'site');
  await rm(path.join(options.stateDirectory, 'identity.json'));
  const pending = JSON.stringify({ privateKey, sealingPrivateKey });
  await writeFile(path.join(options.stateDirectory, 'pending-keys.json'), pending);
  await writeFile(options.tokenFile, token);
  await join(options);
  expect((await readIdentity(options.stateDirectory, 'site')).privateKey).toBe(privateKey);
});

test('an identity that is there already is not exchanged for another', async () => {
  const { options, siteId } = await setUp();
  await join(options);
  const refused = await join({ ...options, nodeId: 'another' }).catch((error) => error);
  expect(refused).toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'other-identity', expected: 'another', found: siteId },
  });
});

test('joining again as the same identity changes nothing and needs no token', async () => {
  const { options } = await setUp();
  const first = await join(options);
  expect(await join(options)).toEqual(first);
});

test('a token for one identity does not give another', async () => {
  const { options } = await setUp();
  const refused = await join({ ...options, nodeId: 'node-a' }).catch((error) => error);
  expect(refused).toMatchObject({ code: 'UNAUTHENTICATED', details: { reason: 'other-identity' } });
});

test('a centre that cannot be reached is UNAVAILABLE and keeps the token', async () => {
  const { options, token } = await setUp();
  const refused = await join({ ...options, server: 'https://127.0.0.1:1' }).catch((error) => error);
  expect(hasCode(refused, 'UNAVAILABLE')).toBe(true);
  expect(await readFile(options.tokenFile, 'utf8')).toBe(`${token}\n`);
});

test('an installed join-encryption.jwk must match its pin too', async () => {
  const { options } = await setUp();
  const forged = { kty: 'OKP', crv: 'X25519', x: Buffer.alloc(32, 9).toString('base64url') };
  await writeFile(path.join(path.dirname(options.tokenFile), 'join-encryption.jwk'), JSON.stringify(forged));
  await expect(join(options)).rejects.toMatchObject({
    details: { path: 'joinEncryptionPin', reason: 'pin' },
  });
});

/** A server with the centre's document, whose certificate says what the test wants. */
async function impostor({ keys }: JoiningSite, subject: { uri: string; validMs: number }): Promise<string> {
  const shown = await issueServer(keys.authority, { ...subject, names: ['127.0.0.1'] });
  const { url } = await standIn(shown, (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(wellKnown(keys)));
  });
  return url;
}

test('a certificate that is not valid now says that a clock is off', async () => {
  const site = await setUp();
  const server = await impostor(site, { uri: 'urn:railhead:central', validMs: -3_600_000 });
  await expect(join({ ...site.options, server })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'clock' },
  });
});

test("a site cannot stand in the centre's place with its own certificate", async () => {
  const site = await setUp();
  const server = await impostor(site, { uri: 'urn:railhead:site:other', validMs: 3_600_000 });
  await expect(join({ ...site.options, server })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'certificate' },
  });
});
