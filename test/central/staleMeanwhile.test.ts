import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mintBy } from '#central/api/delegation.ts';
import { parseGrant } from '#central/api/grants.ts';
import { authenticate, createToken, revokeToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { publicJwk } from '#central/join/keys.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import { type HeldRequest, holdRequest } from '../e2e/intruder/heldRequest.ts';
import { apiClient, type Call, newSite, startTestCentre, type TestCentre } from './centre.ts';
import { agentClient, type Credentials, joinAs } from './fakeSite.ts';

// Whoever was let in before its body was read must still stand when the act begins.

let centre: TestCentre;
let workflowId: string;
const everything = 'compute:*@compute-fleet:*';

beforeAll(async () => {
  centre = await startTestCentre();
  workflowId = await runningWorkflow();
});
afterAll(() => centre.close());

function mint(validMs = 60_000) {
  return onHost(centre.directory, ({ store }) =>
    createToken(store, { name: 'stale', grants: [parseGrant(everything)], validMs }),
  );
}

const holdCall = (bearer: string, method: string, input: object) =>
  holdRequest(centre.central.apiUrl, `/api/compute/${method.replace('.', '/')}`, input, { bearer });

const outcome = async (held: HeldRequest) => {
  const { status, text } = await held.finish();
  const { error } = JSON.parse(text) as { error?: { details: { reason: string } } };
  return [status, error?.details.reason];
};

test('a token that is revoked while a body is on its way changes nothing, and mints no heir', async () => {
  const { token, tokenId } = await mint();
  const heir = { name: 'heir', grants: [parseGrant(everything)], validFor: '10s' };
  const minting = await holdCall(token, 'tokens.create', heir);
  const setting = await holdCall(token, 'secrets.set', {
    tenantId: 'root',
    ref: 'secret://x/y',
    text: 'a:b',
  });
  const reading = await holdCall(token, 'sites.list', {});
  await onHost(centre.directory, ({ store }) => revokeToken(store, tokenId));
  for (const held of [minting, setting, reading]) expect(await outcome(held)).toEqual([401, 'revoked']);
  const { data } = await centre.call<{ items: { parentId?: string; ref?: string }[] }>('tokens.list', {});
  expect(data.items.filter(({ parentId }) => parentId === tokenId)).toEqual([]);
  expect((await centre.call<{ items: object[] }>('secrets.list', { tenantId: 'root' })).data.items).toEqual(
    [],
  );
});

test('a token that is good to the end is served, however late its body', async () => {
  const { token } = await mint();
  expect(await outcome(await holdCall(token, 'sites.list', {}))).toEqual([200, undefined]);
});

test('nobody mints by a token that has been revoked since it was let in', async () => {
  const { token, tokenId } = await mint();
  await onHost(centre.directory, async ({ store }) => {
    const caller = await authenticate(store, `Bearer ${token}`);
    await revokeToken(store, tokenId);
    await expect(mintBy(store, caller, { name: 'heir', grants: [], validMs: 1000 })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      details: { reason: 'revoked' },
    });
  });
});

test('of a revocation and a mint at the same time, either leaves no token that works', async () => {
  for (let round = 0; round < 5; round++) {
    const { token, tokenId } = await mint();
    const own = { name: 'heir', grants: [parseGrant(everything)], validFor: '10s' };
    const call = apiClient(centre.central.apiUrl, token);
    const [minted] = await Promise.all([
      call<{ token: string }>('tokens.create', own),
      onHost(centre.directory, ({ store }) => revokeToken(store, tokenId)),
    ]);
    const heir = minted.status === 200 ? minted.data.token : token;
    expect((await apiClient(centre.central.apiUrl, heir)('sites.list')).status).toBe(401);
  }
});

async function runningWorkflow(): Promise<string> {
  const { siteId } = await newSite(centre.directory, 'unreached');
  const bmc = { address: 'https://10.0.0.2', credentialRef: 'secret://bmc/unreached' };
  const node = { tenantId: 'root', siteId, nodeId: 'unreached', macs: ['02:00:00:00:00:02'] };
  const { data } = await centre.call<{ workflowId: string }>('metal.enroll', { ...node, bmc });
  return data.workflowId;
}

test.each([
  ['is revoked', 'revoked', 60_000],
  ['ends', 'expired', 2_000],
])('whoever waits is told nothing once its token %s, and waits no longer', async (_, reason, validMs) => {
  const { token, tokenId } = await mint(validMs);
  const events = (call: Call, more: object) =>
    call<{ cursor: string }>('workflows.events', { tenantId: 'root', workflowId, limit: 200, ...more });
  const { cursor } = (await events(centre.call, {})).data;
  const begun = performance.now();
  const waiting = events(apiClient(centre.central.apiUrl, token), { cursor, waitSeconds: 30 });
  if (reason === 'revoked') await centre.call('tokens.revoke', { tokenId });
  expect(await waiting).toMatchObject({ status: 401, error: { details: { reason } } });
  expect(performance.now() - begun).toBeLessThan(10_000);
});

async function joinedSite(name: string) {
  const { siteId, joinToken } = await newSite(centre.directory, name);
  const sealingKey = publicJwk(generateKeyPairSync('x25519').privateKey);
  const credentials = await joinAs(centre.central.agentsUrl, 'site', siteId, joinToken, sealingKey);
  return { siteId, ...credentials, ca: credentials.wellKnown.servingCa };
}

const hold = (site: Credentials & { ca: string }, path: string, body: object) =>
  holdRequest(centre.central.agentsUrl, path, { protocol: 1, ...body }, site);
const report = { observedGeneration: 0, results: [], progress: [], events: [] };

test('a site that is revoked while a body is on its way is given no secret and is not believed', async () => {
  const site = await joinedSite('north');
  const bmc = { address: 'https://10.0.0.1', credentialRef: 'secret://bmc/held' };
  await centre.call('secrets.set', { tenantId: 'root', ref: bmc.credentialRef, text: 'root:hunter2' });
  const nodeId = 'held';
  await centre.call('metal.enroll', {
    ...{ tenantId: 'root', siteId: site.siteId, nodeId, bmc },
    macs: ['02:00:00:00:00:01'],
  });
  const { data } = await centre.call<{ items: { secretId: string }[] }>('secrets.list', { tenantId: 'root' });
  const asking = await hold(site, '/v1/agent/secrets', {
    secretIds: data.items.map(({ secretId }) => secretId),
  });
  const alarm = {
    eventId: 'ev_held',
    at: new Date().toISOString(),
    type: 'machine.alarm',
    reason: 'contested',
    text: 'x',
    nodeId,
  };
  const telling = await hold(site, '/v1/agent/report', { ...report, events: [alarm] });
  await onHost(centre.directory, ({ store }) =>
    revokeNamed(store, site.siteId, { why: 'stolen', by: 'test' }),
  );
  for (const held of [asking, telling]) expect(await outcome(held)).toEqual([401, 'revoked']);
  const known = await onHost(centre.directory, ({ store }) =>
    store.selectFrom('alarms').selectAll().where('site_id', '=', site.siteId).execute(),
  );
  expect(known.filter(({ reason }) => reason === 'contested')).toEqual([]);
});

test('a certificate that ends while its connection is kept is refused from then on', async () => {
  const site = await joinedSite('south');
  const client = agentClient(centre.central.agentsUrl, site.ca, site);
  const telling = await hold(site, '/v1/agent/report', report);
  expect((await client.post('/v1/agent/report', { protocol: 1, ...report })).status).toBe(200);
  await onHost(centre.directory, ({ store }) =>
    store
      .updateTable('certificates')
      .set({ expires_at: new Date().toISOString() })
      .where('identity', '=', `urn:railhead:site:${site.siteId}`)
      .execute(),
  );
  expect(await client.post('/v1/agent/report', { protocol: 1, ...report })).toMatchObject({
    status: 401,
    body: { error: { details: { reason: 'expired' } } },
  });
  expect(await outcome(telling)).toEqual([401, 'expired']);
  await client.close();
});
