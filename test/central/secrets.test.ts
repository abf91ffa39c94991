import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openText } from '#base/jwe.ts';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { publicJwk } from '#central/join/keys.ts';
import { type SecretAnswer, secretTyp } from '#contract/secrets.ts';
import { newSite, startTestCentre, type TestCentre } from './centre.ts';
import {
  type AgentClient,
  agentClient,
  joinMessage,
  newRequest,
  pollOnce,
  readWellKnown,
} from './fakeSite.ts';

const tenantId = 'root';
const ref = 'secret://bmc/one';
const address = 'https://10.0.0.1';
let centre: TestCentre;
let site: JoinedSite;

beforeAll(async () => {
  centre = await startTestCentre();
  site = await joinedSite('north');
});
afterAll(() => centre.close());

interface JoinedSite {
  siteId: string;
  sealing: KeyObject;
  client: AgentClient;
  ask(...secretIds: string[]): Promise<{ status: number; body: SecretAnswer }>;
  /** The texts that a `SecretRequest` gave, opened. */
  texts(...secretIds: string[]): Promise<string[]>;
}

async function joinedSite(name: string): Promise<JoinedSite> {
  const { siteId, joinToken } = await newSite(centre.directory, name);
  return joinWith(siteId, joinToken);
}

async function joinWith(siteId: string, joinToken: string): Promise<JoinedSite> {
  const { agentsUrl } = centre.central;
  const wellKnown = await readWellKnown(agentsUrl);
  const sealing = generateKeyPairSync('x25519').privateKey;
  const { key, csr } = await newRequest();
  const stranger = agentClient(agentsUrl, wellKnown.servingCa);
  const sealingKey = publicJwk(sealing);
  const message = await joinMessage(wellKnown, 'site', siteId, joinToken, csr, sealingKey);
  const { body } = await stranger.post('/v1/join', message);
  await stranger.close();
  const { certificate } = JSON.parse(Buffer.from(String(body).split('.')[1] ?? '', 'base64url').toString());
  const client = agentClient(agentsUrl, wellKnown.servingCa, { key, certificate });
  const ask = async (...secretIds: string[]) =>
    (await client.post('/v1/agent/secrets', { protocol: 1, secretIds })) as {
      status: number;
      body: SecretAnswer;
    };
  const texts = async (...secretIds: string[]) => {
    const { body } = await ask(...secretIds);
    const opened = await Promise.all(body.secrets.map(({ sealed }) => openText(secretTyp, sealed, sealing)));
    return opened.map((text) => JSON.parse(text).text as string);
  };
  return { siteId, sealing, client, ask, texts };
}

let machines = 0;
async function enroll(at: JoinedSite, more: object) {
  const macs = [`02:00:00:00:01:${String(++machines).padStart(2, '0')}`];
  return centre.call('metal.enroll', { tenantId, siteId: at.siteId, macs, ...more });
}

async function set(secretRef: string, text: string) {
  const { data, error } = await centre.call<{ secretId: string; version: number }>('secrets.set', {
    tenantId,
    ref: secretRef,
    text,
  });
  if (error !== undefined) throw new Error(error.message);
  return data;
}

test('a site gets, sealed to its key, the secrets that its own machines need, and no other', async () => {
  const { secretId } = await set(ref, 'admin:marker-of-one');
  const { secretId: strange } = await set('secret://bmc/strange', 'admin:strange');
  await enroll(site, { bmc: { address, credentialRef: ref } });
  expect(await site.texts(secretId, strange)).toEqual(['admin:marker-of-one']);
  const other = await joinedSite('south');
  expect(await other.ask(secretId)).toMatchObject({ status: 200, body: { secrets: [] } });
  expect(JSON.stringify((await site.ask(secretId)).body)).not.toContain('marker');
});

test('another tenant cannot have its machines use a secret by its name', async () => {
  const { secretId } = await set('secret://bmc/private', 'admin:private');
  const thief = { tenantId: 'thief', siteId: site.siteId, macs: ['02:00:00:00:02:01'] };
  await centre.call('metal.enroll', {
    ...thief,
    bmc: { address: 'https://10.6.6.6', credentialRef: 'secret://bmc/private' },
  });
  expect(await site.texts(secretId)).toEqual([]);
});

test('a changed secret is a new desired state, and its newest version is what is given', async () => {
  const secretRef = 'secret://bmc/changed';
  const { secretId } = await set(secretRef, 'admin:old');
  await enroll(site, { nodeId: 'changed', bmc: { address, credentialRef: secretRef } });
  const before = await pollOnce(site, { observedGeneration: 0, taken: [], waitSeconds: 0 });
  const observedGeneration = before.spec?.generation ?? 0;
  const waiting = pollOnce(site, { observedGeneration, taken: [], waitSeconds: 20 });
  await set(secretRef, 'admin:new');
  const { spec } = await waiting;
  const node = spec?.site?.nodes.find(({ nodeId }) => nodeId === 'changed');
  expect(node?.bmcSecret).toEqual({ secretId, version: 2 });
  expect(await site.texts(secretId)).toEqual(['admin:new']);
  expect(JSON.stringify(spec)).not.toContain('admin:');
});

test('a site that joins again is sealed to by its new key alone', async () => {
  const { secretId } = await set('secret://bmc/rejoin', 'admin:rejoin');
  const former = await joinedSite('west');
  await enroll(former, { bmc: { address, credentialRef: 'secret://bmc/rejoin' } });
  const { token } = await onHost(centre.directory, ({ store }) =>
    createJoinToken(store, { role: 'site', nodeId: former.siteId, validMs: 60_000 }),
  );
  const again = await joinWith(former.siteId, token);
  expect(await again.texts(secretId)).toEqual(['admin:rejoin']);
  const { sealed } = (await again.ask(secretId)).body.secrets[0] ?? { sealed: '' };
  await expect(openText(secretTyp, sealed, former.sealing)).rejects.toThrow();
});

test('enrolling keeps the credentials encrypted, and does not change what is there', async () => {
  const bmc = { address, credentialRef: 'secret://bmc/enrolled' };
  const bmcCredentials = { username: 'root', password: 'mark:er"of\\enroll' };
  expect(await enroll(site, { bmc, bmcCredentials })).toMatchObject({ status: 200 });
  expect(await enroll(site, { bmc, bmcCredentials })).toMatchObject({ status: 200 });
  expect(await enroll(site, { bmc, bmcCredentials: { username: 'root', password: 'other' } })).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { path: 'bmc.credentialRef' } },
  });
  const { data } = await centre.call<{ items: { ref: string; secretId: string }[] }>('secrets.list', {
    tenantId,
  });
  const secretId = data.items.find((item) => item.ref === bmc.credentialRef)?.secretId ?? '';
  expect(await site.texts(secretId)).toEqual(['root:mark:er"of\\enroll']);
});

test('the list tells who holds which version, and never a text', async () => {
  const { secretId } = await set('secret://bmc/listed', 'admin:unlisted-marker');
  await enroll(site, { bmc: { address, credentialRef: 'secret://bmc/listed' } });
  await site.ask(secretId);
  const { data } = await centre.call<{ items: { ref: string; agents: object[] }[] }>('secrets.list', {
    tenantId,
  });
  const listed = data.items.find((item) => item.ref === 'secret://bmc/listed');
  expect(listed?.agents).toEqual([
    { agent: `urn:railhead:site:${site.siteId}`, version: 1, at: expect.any(String) },
  ]);
  expect(JSON.stringify(data)).not.toContain('marker');
});

test('a secret in use goes only by force', async () => {
  const secretRef = 'secret://bmc/used';
  const { secretId } = await set(secretRef, 'admin:used');
  await enroll(site, { nodeId: 'user', bmc: { address, credentialRef: secretRef } });
  expect(await centre.call('secrets.delete', { tenantId, ref: secretRef })).toMatchObject({
    status: 409,
    error: { code: 'INVALID_STATE', details: { reason: 'in-use', nodeIds: ['user'] } },
  });
  expect(await centre.call('secrets.delete', { tenantId, ref: secretRef, force: true })).toMatchObject({
    status: 200,
  });
  expect(await site.texts(secretId)).toEqual([]);
  expect(await centre.call('secrets.delete', { tenantId, ref: secretRef })).toMatchObject({ status: 404 });
});

test('setting and listing need their own grants', async () => {
  const reader = await centre.tokenFor('compute:secrets:read@compute-tenant:root');
  expect(await reader('secrets.list', { tenantId })).toMatchObject({ status: 200 });
  expect(await reader('secrets.set', { tenantId, ref, text: 'a:b' })).toMatchObject({ status: 403 });
  const elsewhere = await centre.tokenFor('compute:secrets:*@compute-tenant:other');
  expect(await elsewhere('secrets.list', { tenantId })).toMatchObject({ status: 403 });
});

test('no text is readable in the books, and none is in the audit records', async () => {
  await set('secret://bmc/hidden', 'admin:hidden-marker-of-the-database');
  const rows = await onHost(centre.directory, async ({ store }) => [
    await store.selectFrom('secrets').selectAll().execute(),
    await store.selectFrom('tenant_secrets').selectAll().execute(),
    await store.selectFrom('audit').selectAll().execute(),
  ]);
  const bytes = Buffer.concat(
    rows
      .flat()
      .flatMap((row) =>
        Object.values(row).map((value) => Buffer.from(value instanceof Uint8Array ? value : String(value))),
      ),
  );
  expect(bytes.includes('secret://bmc/hidden')).toBe(true);
  expect(bytes.includes('hidden-marker-of-the-database')).toBe(false);
});
