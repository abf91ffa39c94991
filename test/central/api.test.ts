import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { startCentral } from '#central/start.ts';
import {
  apiClient,
  mintToken,
  mustRegister,
  newSite,
  osImage,
  startTestCentre,
  type TestCentre,
} from './centre.ts';

let centre: TestCentre;

const executable = path.join(os.tmpdir(), `railhead-published-${process.pid}`);
const bytes = randomBytes(300_000);

beforeAll(async () => {
  await writeFile(executable, bytes);
  centre = await startTestCentre({ executable });
});
afterAll(async () => {
  await centre.close();
  await rm(executable);
});

const list = { tenantId: 'acme' };

test.each([
  ['missing', undefined],
  ['unknown', 'rht_nobody'],
])('a call with a token that is %s is refused before its input is looked at', async (reason, token) => {
  expect(await apiClient(centre.central.apiUrl, token)('images.list', { nonsense: 1 })).toMatchObject({
    status: 401,
    error: { code: 'UNAUTHENTICATED', details: { reason } },
  });
});

test('an expired token and a revoked one are refused', async () => {
  const expired = await mintToken(centre.directory, ['compute:*@compute-fleet:*'], -1);
  expect(await apiClient(centre.central.apiUrl, expired)('images.list', list)).toMatchObject({
    status: 401,
    error: { details: { reason: 'expired' } },
  });
  const call = await centre.tokenFor('compute:images:read@compute-tenant:acme');
  expect((await call('images.list', list)).status).toBe(200);
  await onHost(centre.directory, async ({ store }) => {
    const newest = await store
      .selectFrom('tokens')
      .select('token_id')
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow();
    await revokeToken(store, newest.token_id);
  });
  expect((await call('images.list', list)).status).toBe(401);
});

test('a tenant grant covers its tenant and its images, and nothing else', async () => {
  const image = await mustRegister(centre.call, osImage({ tenantId: 'acme', ref: 'granted@1' }));
  const call = await centre.tokenFor('compute:images:read@compute-tenant:acme');
  expect((await call('images.list', list)).status).toBe(200);
  expect((await call('images.get', { tenantId: 'acme', imageId: image.imageId })).status).toBe(200);
  const refused = { status: 403, error: { code: 'FORBIDDEN' } };
  expect(await call('images.list', { tenantId: 'other' })).toMatchObject(refused);
  expect(await call('images.promote', { tenantId: 'acme', imageId: image.imageId })).toMatchObject(refused);
  expect(await call('sites.list')).toMatchObject(refused);
});

test('a grant on one image covers that image alone', async () => {
  const image = await mustRegister(centre.call, osImage({ tenantId: 'acme', ref: 'single@1' }));
  const other = await mustRegister(centre.call, osImage({ tenantId: 'acme', ref: 'single@2' }));
  const call = await centre.tokenFor(`compute:images:read@compute-image:${image.imageId}`);
  expect((await call('images.get', { tenantId: 'acme', imageId: image.imageId })).status).toBe(200);
  expect((await call('images.get', { tenantId: 'acme', imageId: other.imageId })).status).toBe(403);
});

test('a token is stored as a hash', async () => {
  const token = await mintToken(centre.directory, ['compute:*@compute-fleet:*']);
  const rows = await onHost(centre.directory, ({ store }) =>
    store.selectFrom('tokens').selectAll().execute(),
  );
  expect(JSON.stringify(rows)).not.toContain(token.slice(4));
});

test('every mutating call leaves a record, refused ones too, and reads leave none', async () => {
  await centre.call('tenants.create', { tenantId: 'audited' });
  const call = await centre.tokenFor('compute:images:publish@compute-tenant:audited');
  await call('images.register', osImage({ tenantId: 'audited', ref: 'audited@1' }));
  await call('images.register', osImage({ tenantId: 'audited', ref: 'audited@1' }));
  await call('images.register', osImage({ tenantId: 'audited-too', ref: 'audited@1' }));
  await centre.call('images.list', { tenantId: 'audited' });
  const records = await onHost(centre.directory, ({ store }) =>
    store.selectFrom('audit').selectAll().where('scope', 'like', '%audited%').orderBy('audit_id').execute(),
  );
  expect(
    records
      .map(({ method, action, scope, outcome }) => ({ method, action, scope, outcome }))
      .toSorted((a, b) => a.outcome.localeCompare(b.outcome)),
  ).toEqual([
    {
      method: 'images.register',
      action: 'compute:images:publish',
      scope: 'compute-tenant:audited',
      outcome: 'CONFLICT',
    },
    {
      method: 'images.register',
      action: 'compute:images:publish',
      scope: 'compute-tenant:audited-too',
      outcome: 'FORBIDDEN',
    },
    {
      method: 'images.register',
      action: 'compute:images:publish',
      scope: 'compute-tenant:audited',
      outcome: 'ok',
    },
  ]);
});

test('what the API does not know is denied', async () => {
  expect(await centre.call('images.delete', {})).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } });
  expect(await centre.call('signers.add', {})).toMatchObject({ status: 404 });
});

test.each([
  ['no JSON', 'application/json', '{'],
  ['a list', 'application/json', '[]'],
  ['another type', 'text/plain', 'hello'],
])('a body that is %s is refused as the input', async (_, type, body) => {
  const token = await mintToken(centre.directory, ['compute:*@compute-fleet:*']);
  const answer = await request(`${centre.central.apiUrl}/api/compute/images/list`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body,
  });
  expect(answer.statusCode).toBe(400);
  expect(await answer.body.json()).toMatchObject({ error: { code: 'INVALID_INPUT' } });
});

test('the OpenAPI page lists every method', async () => {
  const page = (await (await fetch(`${centre.central.apiUrl}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(page.paths)).toEqual(
    expect.arrayContaining([
      '/api/compute/images/register',
      '/api/compute/metal/deploy',
      '/api/compute/workflows/events',
    ]),
  );
});

test('sites are created once per name and listed in pages', async () => {
  expect((await centre.call('sites.create', { name: 'north' })).status).toBe(200);
  expect(await centre.call('sites.create', { name: 'north' })).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { path: 'name' } },
  });
  await centre.call('sites.create', { name: 'south' });
  const { data: first } = await centre.call<{ items: object[]; cursor: string }>('sites.list', { limit: 1 });
  const { data: second } = await centre.call<{ items: object[] }>('sites.list', {
    limit: 1,
    cursor: first.cursor,
  });
  expect([first.items, second.items]).toMatchObject([[{ name: 'north' }], [{ name: 'south' }]]);
});

test('a machine is enrolled once: its id and its addresses are its own', async () => {
  const { siteId } = await newSite(centre.directory, 'enroll');
  const machine = { tenantId: 'acme', siteId, nodeId: 'node-a', macs: ['5254.0000.00a1'] };
  expect((await centre.call('metal.enroll', machine)).data).toMatchObject({
    state: 'enrolled',
    macs: ['52:54:00:00:00:a1'],
  });
  expect(await centre.call('metal.enroll', machine)).toMatchObject({
    status: 409,
    error: { details: { path: 'nodeId' } },
  });
  expect(await centre.call('metal.enroll', { ...machine, nodeId: 'node-b' })).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { path: 'macs', mac: '52:54:00:00:00:a1' } },
  });
  expect(await centre.call('nodes.get', { tenantId: 'acme', nodeId: 'node-b' })).toMatchObject({
    status: 404,
  });
  const { data } = await centre.call<{ items: object[] }>('nodes.list', list);
  expect(data.items).toMatchObject([{ nodeId: 'node-a' }]);
});

test.each([
  [400, 'macs', { macs: [] }],
  [400, 'macs[0]', { macs: ['52:54:00'] }],
  [400, 'bmc.address', { bmc: { address: 'http://10.0.0.1', credentialRef: 'secret://bmc' } }],
  [400, 'bmc.credentialRef', { bmc: { address: 'https://10.0.0.1', credentialRef: 'password' } }],
  [400, 'nodeId', { nodeId: 'Node 1' }],
  [400, 'address', { address: '10.77.0.256' }],
  [400, 'uuid', { uuid: 'none' }],
  [404, 'siteId', { siteId: 'site_none' }],
  [404, 'poolId', { poolId: 'pool_none' }],
])('enrolling answers %i naming %s', async (status, path, change) => {
  const { data: site } = await centre.call<{ siteId: string }>('sites.create', {
    name: `bad-${path.replaceAll(/\W/g, '').toLowerCase()}-${Math.random().toString(36).slice(2)}`,
  });
  const machine = { tenantId: 'acme', siteId: site.siteId, macs: ['52:54:00:00:00:b1'], ...change };
  expect(await centre.call('metal.enroll', machine)).toMatchObject({ status, error: { details: { path } } });
});

test('the published executable is what was hashed at the start, whatever has its name now', async () => {
  await writeFile(`${executable}.new`, 'another');
  await rename(`${executable}.new`, executable);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const download = () =>
    fetch(`${centre.central.apiUrl}/bcd/${digest}`).then((answer) => answer.arrayBuffer());
  const copies = await Promise.all([download(), download()]);
  expect(copies.map((copy) => Buffer.from(copy).equals(bytes))).toEqual([true, true]);
  expect((await fetch(`${centre.central.apiUrl}/bcd/${'0'.repeat(64)}`)).status).toBe(404);
});

test('a listener that cannot be bound is an error that leaves the directory free', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-bind-'));
  const taken = Number(new URL(centre.central.apiUrl).port);
  const anywhere = { host: '127.0.0.1', port: 0 };
  const options = { directory, agents: anywhere, names: ['127.0.0.1'] };
  await expect(startCentral({ ...options, api: { host: '127.0.0.1', port: taken } })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await (await startCentral({ ...options, api: anywhere })).close();
  await rm(directory, { recursive: true });
});

test('a second centre on the same directory is a CONFLICT, and the first runs on', async () => {
  const anywhere = { host: '127.0.0.1', port: 0 };
  const options = { directory: centre.directory, api: anywhere, agents: anywhere, names: ['127.0.0.1'] };
  await expect(startCentral(options)).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { path: 'directory', reason: 'locked' },
  });
  expect((await centre.call('sites.list')).status).toBe(200);
});

test("an API with TLS is served by the centre's CA", async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-tls-'));
  const anywhere = { host: '127.0.0.1', port: 0 };
  const api = { ...anywhere, tls: true };
  const central = await startCentral({ directory, agents: anywhere, api, names: ['127.0.0.1'] });
  const ca = await onHost(directory, async ({ keys }) => keys.authority.certificate);
  const dispatcher = new Agent({ connect: { ca } });
  expect((await request(`${central.apiUrl}/openapi.json`, { dispatcher })).statusCode).toBe(200);
  await dispatcher.destroy();
  await central.close();
  await rm(directory, { recursive: true });
});
