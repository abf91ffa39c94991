import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signDocument } from '#base/jws.ts';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { publicJwk } from '#central/join/keys.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import type { WellKnown } from '#contract/join.ts';
import { newSite, startTestCentre, type TestCentre } from '../centre.ts';
import {
  type AgentClient,
  agentClient,
  joinAs,
  joinMessage,
  newRequest,
  readWellKnown,
} from '../fakeSite.ts';

let centre: TestCentre;
let wellKnown: WellKnown;
let stranger: AgentClient;

beforeAll(async () => {
  centre = await startTestCentre();
  wellKnown = await readWellKnown(centre.central.agentsUrl);
  stranger = agentClient(centre.central.agentsUrl, wellKnown.servingCa);
});
afterAll(async () => {
  await stranger.close();
  await centre.close();
});

const poll = { protocol: 1, observedGeneration: 0, waitSeconds: 0, taken: [] };
const sealingKey = publicJwk(generateKeyPairSync('x25519').privateKey);
let count = 0;

/** A site that has joined, and the very message by which it did. */
async function joined() {
  const { siteId, joinToken } = await newSite(centre.directory, `token-${++count}`);
  const { key, csr } = await newRequest();
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, csr, sealingKey);
  const answer = await stranger.post('/v1/join', message);
  expect(answer.status).toBe(200);
  return { siteId, joinToken, key, csr, message, answer };
}

type Joined = Awaited<ReturnType<typeof joined>>;

async function renew({ siteId, csr, key }: Joined, counter: number, nonce: string) {
  const at = new Date().toISOString();
  const renewal = {
    role: 'site',
    nodeId: siteId,
    counter,
    nonce,
    at,
    csr,
    sealingKey,
    version: '0',
    signedBy: [],
  };
  const proof = await signDocument('railhead-renewal', renewal, createPrivateKey(key));
  return stranger.post('/v1/renew', { protocol: 1, proof });
}

async function statusOfPoll({ key }: Joined, joinAnswer: unknown): Promise<number> {
  const [, payload = ''] = String(joinAnswer).split('.');
  const { certificate } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { certificate: string };
  const client = agentClient(centre.central.agentsUrl, wellKnown.servingCa, { key, certificate });
  const { status } = await client.post('/v1/agent/poll', poll);
  await client.close();
  return status;
}

function agentRow({ siteId }: Joined) {
  return onHost(centre.directory, ({ store }) =>
    store.selectFrom('agents').selectAll().where('agent_id', '=', siteId).executeTakeFirst(),
  );
}

const refused = (reason: string) => ({
  status: 401,
  body: { error: { code: 'UNAUTHENTICATED', details: { reason } } },
});

test('a join whose answer was lost is answered again, and changes nothing in the books', async () => {
  const site = await joined();
  const before = await agentRow(site);
  const again = await stranger.post('/v1/join', site.message);
  expect(await statusOfPoll(site, again.body)).toBe(200);
  expect(await agentRow(site)).toEqual(before);
});

test('whoever is revoked does not come back by the token that let it in', async () => {
  const site = await joined();
  const why = { why: 'stolen', by: 'host' };
  await onHost(centre.directory, ({ store }) => revokeNamed(store, site.siteId, why));
  expect(await stranger.post('/v1/join', site.message)).toMatchObject(refused('revoked'));
  expect(await statusOfPoll(site, site.answer.body)).toBe(401);
  expect((await agentRow(site))?.revoked_at).not.toBeNull();
});

test('a revocation takes the tokens that there are; a new one lets another key in, not the revoked one', async () => {
  const site = await joined();
  const mint = () =>
    onHost(centre.directory, ({ store }) =>
      createJoinToken(store, { role: 'site', nodeId: site.siteId, validMs: 60_000 }),
    );
  const before = await mint();
  const why = { why: 'stolen', by: 'host' };
  await onHost(centre.directory, ({ store }) => revokeNamed(store, site.siteId, why));
  const after = await mint();
  const by = async (token: string, csr: string) =>
    stranger.post('/v1/join', await joinMessage(wellKnown, 'site', site.siteId, token, csr));
  const other = (await newRequest()).csr;
  expect(await by(before.token, other)).toMatchObject(refused('revoked'));
  expect(await by(after.token, site.csr)).toMatchObject(refused('revoked'));
  expect((await by(after.token, other)).status).toBe(200);
});

test('a copy cannot hide from the renewal counter by repeating the join', async () => {
  const site = await joined();
  expect((await renew(site, 1, 'of-the-original-itself')).status).toBe(200);
  expect(await stranger.post('/v1/join', site.message)).toMatchObject(refused('used'));
  expect((await agentRow(site))?.counter).toBe(1);
  expect(await renew(site, 1, 'of-the-copy-itself')).toMatchObject(refused('copied'));
});

test('a copy that is found is revoked and an alarm, or neither: what cuts in between leaves it to be found again', async () => {
  const site = await joined();
  expect((await renew(site, 1, 'of-the-original-itself')).status).toBe(200);
  const rename = (from: string, to: string) =>
    onHost(centre.directory, ({ store }) =>
      store.schema
        .alterTable(from as 'alarms')
        .renameTo(to)
        .execute(),
    );
  await rename('alarms', 'alarms_away');
  expect((await renew(site, 1, 'of-the-copy-itself')).status).toBe(500);
  await rename('alarms_away', 'alarms');
  expect((await agentRow(site))?.revoked_at).toBeNull();
  expect(await renew(site, 1, 'of-the-copy-itself')).toMatchObject(refused('copied'));
  expect((await agentRow(site))?.revoked_at).not.toBeNull();
  const alarms = await onHost(centre.directory, ({ store }) =>
    store.selectFrom('alarms').select('reason').where('site_id', '=', site.siteId).execute(),
  );
  expect(alarms).toEqual([{ reason: 'copied' }]);
});

test('a repeated join with another sealing key is none', async () => {
  const { siteId, joinToken, csr } = await joined();
  const other = publicJwk(generateKeyPairSync('x25519').privateKey);
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, csr, other);
  expect(await stranger.post('/v1/join', message)).toMatchObject(refused('used'));
});

test('a token that was sealed for other keys is refused, and not used up', async () => {
  const { siteId, joinToken } = await newSite(centre.directory, `token-${++count}`);
  const { csr } = await newRequest();
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, csr, sealingKey);
  const swapped = [
    { ...message, csr: (await newRequest()).csr },
    { ...message, sealingKey: publicJwk(generateKeyPairSync('x25519').privateKey) },
    { ...message, sealingKey: undefined },
  ];
  for (const each of swapped)
    expect(await stranger.post('/v1/join', each)).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_INPUT', details: { path: 'token', reason: 'other-key' } } },
    });
  expect((await stranger.post('/v1/join', message)).status).toBe(200);
});

test('two tokens of one site, used at the same moment by two keys: one certificate stands', async () => {
  const { siteId, joinToken } = await newSite(centre.directory, `token-${++count}`);
  const second = await onHost(centre.directory, ({ store }) =>
    createJoinToken(store, { role: 'site', nodeId: siteId, validMs: 60_000 }),
  );
  const { agentsUrl } = centre.central;
  const both = await Promise.all(
    [joinToken, second.token].map((token) => joinAs(agentsUrl, 'site', siteId, token)),
  );
  const statuses = await Promise.all(
    both.map(async (agent) => {
      const client = agentClient(agentsUrl, wellKnown.servingCa, agent);
      const { status } = await client.post('/v1/agent/poll', poll);
      await client.close();
      return status;
    }),
  );
  expect(statuses.sort()).toEqual([200, 401]);
});

test.each([
  ['a name with a plus', { nodeId: 'a+b=c' }, 'nodeId'],
  ['a name that begins with a hash', { nodeId: '#zz' }, 'nodeId'],
  ['half a character', { nodeId: '\ud800' }, 'nodeId'],
  ['a name without end', { nodeId: 'x'.repeat(200_000) }, 'nodeId'],
  ['no name', { nodeId: '' }, 'nodeId'],
  ['a token without end', { token: 'x'.repeat(200_000) }, 'token'],
  ['a sealed nothing', { token: 'a.b.c.d.e' }, 'token'],
  ['a request without end', { csr: 'A'.repeat(200_000) }, 'csr'],
  ['a version without end', { version: 'v'.repeat(200_000) }, 'version'],
  ['a pin without end', { signedBy: 'p'.repeat(200_000) }, 'signedBy'],
])('a join with %s is refused by its field', async (_, changed, path) => {
  const { siteId, joinToken } = await newSite(centre.directory, `token-${++count}`);
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, (await newRequest()).csr);
  expect(await stranger.post('/v1/join', { ...message, ...changed })).toMatchObject({
    status: 400,
    body: { error: { code: 'INVALID_INPUT', details: { path } } },
  });
});

test('a sealing key that nothing can be sealed to is refused', async () => {
  const { siteId, joinToken } = await newSite(centre.directory, `token-${++count}`);
  const nobody = { kty: 'OKP', crv: 'X25519', x: Buffer.alloc(32).toString('base64url') } as const;
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, (await newRequest()).csr, nobody);
  expect(await stranger.post('/v1/join', message)).toMatchObject({
    status: 400,
    body: { error: { code: 'INVALID_INPUT', details: { path: 'sealingKey' } } },
  });
});

test('a renewal counter that the books could not go beyond is refused', async () => {
  const site = await joined();
  expect(await renew(site, 1e19, 'far-beyond-2-to-53')).toMatchObject({
    status: 400,
    body: { error: { details: { path: 'counter' } } },
  });
  expect(await renew(site, 2 ** 53 - 1, 'the-last-one-of-all')).toMatchObject(refused('proof'));
  expect((await renew(site, 5, 'after-a-restored-backup')).status).toBe(200);
});
