import { afterAll, beforeAll, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import type { WellKnown } from '#contract/join.ts';
import { newSigner, newSite, osImage, startTestCentre, type TestCentre, type TestSigner } from './centre.ts';
import {
  agentClient,
  type Credentials,
  joinAs,
  joinMessage,
  newRequest,
  pollOnce,
  readWellKnown,
} from './fakeSite.ts';

let centre: TestCentre;
let signer: TestSigner;

beforeAll(async () => {
  centre = await startTestCentre();
  signer = await newSigner(centre.directory);
});
afterAll(() => centre.close());

let siteCount = 0;
async function joinedSite() {
  const { siteId, joinToken } = await newSite(centre.directory, `site-${++siteCount}`);
  const credentials = await joinAs(centre.central.agentsUrl, 'site', siteId, joinToken);
  return { siteId, joinToken, ...credentials, ...client(credentials) };
}

function client(credentials: Credentials & { wellKnown: WellKnown }) {
  return { client: agentClient(centre.central.agentsUrl, credentials.wellKnown.servingCa, credentials) };
}

test('a site joins with its token and polls by the certificate that it got', async () => {
  const site = await joinedSite();
  const answer = await pollOnce(site, { observedGeneration: 0, taken: [] });
  expect(answer).toMatchObject({
    protocol: 1,
    operations: [],
    cancelled: [],
    spec: {
      nodeId: site.siteId,
      role: 'site',
      generation: 1,
      site: { cacheImages: [], nodes: [], bootEntries: [] },
    },
  });
  await site.client.close();
});

test('a join token is used up, but the same key may ask again', async () => {
  const { siteId, joinToken } = await newSite(centre.directory, 'single-use');
  const wellKnown = await readWellKnown(centre.central.agentsUrl);
  const stranger = agentClient(centre.central.agentsUrl, wellKnown.servingCa);
  const { csr } = await newRequest();
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, csr);
  expect((await stranger.post('/v1/join', message)).status).toBe(200);
  expect((await stranger.post('/v1/join', message)).status).toBe(200);
  const other = await joinMessage(wellKnown, 'site', siteId, joinToken, (await newRequest()).csr);
  expect(await stranger.post('/v1/join', other)).toMatchObject({
    status: 401,
    body: { error: { code: 'UNAUTHENTICATED', details: { reason: 'used' } } },
  });
  await stranger.close();
});

test.each([
  ['unknown', async () => 'rhj_nobody'],
  [
    'expired',
    (siteId: string) =>
      onHost(centre.directory, async ({ store }) => {
        const token = await createJoinToken(store, { role: 'site', nodeId: siteId, validMs: -1 });
        return token.token;
      }),
  ],
  [
    'other-identity',
    () =>
      onHost(centre.directory, async ({ store }) => {
        const token = await createJoinToken(store, { role: 'site', nodeId: 'site_other', validMs: 60_000 });
        return token.token;
      }),
  ],
])('a join by a token that is %s is refused', async (reason, makeToken) => {
  const { siteId } = await newSite(centre.directory, `refused-${reason}`);
  const wellKnown = await readWellKnown(centre.central.agentsUrl);
  const stranger = agentClient(centre.central.agentsUrl, wellKnown.servingCa);
  const message = await joinMessage(
    wellKnown,
    'site',
    siteId,
    await makeToken(siteId),
    (await newRequest()).csr,
  );
  expect(await stranger.post('/v1/join', message)).toMatchObject({
    status: 401,
    body: { error: { code: 'UNAUTHENTICATED', details: { reason } } },
  });
  await stranger.close();
});

test('a join whose token is not sealed or whose request is not signed is refused', async () => {
  const { siteId, joinToken } = await newSite(centre.directory, 'malformed');
  const wellKnown = await readWellKnown(centre.central.agentsUrl);
  const stranger = agentClient(centre.central.agentsUrl, wellKnown.servingCa);
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, (await newRequest()).csr);
  expect(await stranger.post('/v1/join', { ...message, token: joinToken })).toMatchObject({
    status: 400,
    body: { error: { code: 'INVALID_INPUT', details: { path: 'token' } } },
  });
  const unsigned = await joinMessage(wellKnown, 'site', siteId, joinToken, 'nothing');
  expect(await stranger.post('/v1/join', unsigned)).toMatchObject({
    status: 400,
    body: { error: { code: 'INVALID_INPUT', details: { path: 'csr' } } },
  });
  await stranger.close();
});

test('agent routes refuse a client without a certificate, and one whose certificate was revoked', async () => {
  const site = await joinedSite();
  const poll = { protocol: 1, observedGeneration: 0, waitSeconds: 0, taken: [] };
  const stranger = agentClient(centre.central.agentsUrl, site.wellKnown.servingCa);
  expect(await stranger.post('/v1/agent/poll', poll)).toMatchObject({
    status: 401,
    body: { error: { details: { reason: 'certificate' } } },
  });
  await onHost(centre.directory, ({ store }) =>
    store
      .updateTable('certificates')
      .set({ revoked_at: new Date().toISOString() })
      .where('identity', '=', `urn:railhead:site:${site.siteId}`)
      .execute(),
  );
  expect(await site.client.post('/v1/agent/poll', poll)).toMatchObject({
    status: 401,
    body: { error: { details: { reason: 'revoked' } } },
  });
  await stranger.close();
  await site.client.close();
});

test('what the agents listener does not know is denied', async () => {
  const site = await joinedSite();
  expect(await site.client.post('/v1/agent/other', {})).toMatchObject({
    status: 404,
    body: { error: { code: 'NOT_FOUND' } },
  });
  await site.client.close();
});

test('a waiting poll is answered as soon as the desired state changes', async () => {
  const site = await joinedSite();
  const { spec } = await pollOnce(site, { observedGeneration: 0, taken: [] });
  const waiting = pollOnce(site, { observedGeneration: spec?.generation ?? 0, taken: [], waitSeconds: 15 });
  const { data: pool } = await centre.call<{ poolId: string }>('pools.create', {
    tenantId: 'root',
    siteId: site.siteId,
    policy: { prewarmImages: ['prewarmed@1'] },
  });
  await centre.call('images.register', signer.signed(osImage({ ref: 'prewarmed@1', sizeBytes: 7 })));
  const changed = await waiting;
  expect(changed.spec).toMatchObject({
    generation: 2,
    site: {
      cacheImages: [
        {
          ref: 'prewarmed@1',
          digest: 'a'.repeat(64),
          sizeBytes: 7,
          sources: ['https://images.example.com/demo-os.raw.zst'],
          signerKey: signer.publicKey,
        },
      ],
    },
  });
  await centre.call('metal.enroll', {
    tenantId: 'root',
    siteId: site.siteId,
    poolId: pool.poolId,
    nodeId: 'node-specced',
    macs: ['52-54-00-AA-BB-01'],
    bmc: { address: 'https://10.78.0.11', credentialRef: 'secret://bmc/1' },
  });
  const { spec: withNode } = await pollOnce(site, { observedGeneration: 2, taken: [] });
  expect(withNode).toMatchObject({
    generation: 3,
    site: {
      nodes: [
        {
          nodeId: 'node-specced',
          macs: ['52:54:00:aa:bb:01'],
          bmc: { driver: 'redfish', address: 'https://10.78.0.11', credentialRef: 'secret://bmc/1' },
        },
      ],
    },
  });
  await site.client.close();
});

test('an image whose signer was revoked leaves the desired state', async () => {
  const own = await newSigner(centre.directory, 'root', 'short-lived');
  const site = await joinedSite();
  await centre.call('images.register', own.signed(osImage({ ref: 'revoked@1', sha256: 'b'.repeat(64) })));
  await centre.call('pools.create', {
    tenantId: 'root',
    siteId: site.siteId,
    policy: { prewarmImages: ['revoked@1'] },
  });
  const { spec } = await pollOnce(site, { observedGeneration: 0, taken: [] });
  expect(spec?.site?.cacheImages).toHaveLength(1);
  await onHost(centre.directory, ({ store }) =>
    store
      .updateTable('image_signers')
      .set({ revoked_at: 'now' })
      .where('signer_id', '=', 'short-lived')
      .execute(),
  );
  const after = await pollOnce(site, { observedGeneration: spec?.generation ?? 0, taken: [] });
  expect(after.spec).toMatchObject({
    generation: (spec?.generation ?? 0) + 1,
    site: { cacheImages: [] },
  });
  await site.client.close();
});

test('a generation that is ahead of the books is passed by the next one', async () => {
  const site = await joinedSite();
  const { spec } = await pollOnce(site, { observedGeneration: 41, taken: [] });
  expect(spec?.generation).toBe(42);
  await site.client.close();
});

test('a poll without news is answered when its time is over', async () => {
  const site = await joinedSite();
  const { spec } = await pollOnce(site, { observedGeneration: 0, taken: [] });
  const answer = await pollOnce(site, {
    observedGeneration: spec?.generation ?? 0,
    taken: [],
    waitSeconds: 0.1,
  });
  expect(answer).toEqual({ protocol: 1, operations: [], cancelled: [] });
  await site.client.close();
});

test('an inventory becomes image locations, and malformed items do not hold it back', async () => {
  const site = await joinedSite();
  await centre.call('images.register', osImage({ ref: 'located@1', sha256: 'c'.repeat(64) }));
  const report = {
    protocol: 1,
    observedGeneration: 0,
    results: [{ nonsense: true }],
    progress: [],
    events: [{ type: 'boot.dhcp' }],
    images: [
      { digest: 'c'.repeat(64), ref: 'located@1', state: 'pulling', receivedBytes: 5 },
      { digest: 'd'.repeat(64), ref: 'unknown@1', state: 'ready' },
      { digest: 'short', ref: 'x', state: 'ready' },
    ],
  };
  expect((await site.client.post('/v1/agent/report', report)).status).toBe(200);
  const locations = () =>
    onHost(centre.directory, ({ store }) =>
      store.selectFrom('image_locations').selectAll().where('site_id', '=', site.siteId).execute(),
    );
  await expect.poll(locations).toMatchObject([{ state: 'pulling', received_bytes: 5 }]);
  await site.client.close();
});
