import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeCursor } from '#central/api/cursor.ts';
import type { RailheadError } from '#contract/errors.ts';
import { type Call, mintToken, newSite, osImage, startTestCentre, type TestCentre } from './centre.ts';
import { sampleProfile } from './sampleProfile.ts';

const kubernetes = {
  server: 'https://k8s.example.com:6443',
  caCertSha256: 'a'.repeat(64),
  tokenRef: 'secret://k8s/join',
};

let centre: TestCentre;
let call: Call;
let siteId: string;
let token: string;
beforeAll(async () => {
  centre = await startTestCentre();
  call = centre.call;
  ({ siteId } = await newSite(centre.directory, 'lab'));
  token = await mintToken(centre.directory, ['compute:*@compute-fleet:*']);
});
afterAll(() => centre.close());

/** The error of the same call over HTTP and in process, where nothing but `details` tells where it is wrong. */
async function refusals(method: string, input: unknown) {
  const { error } = await call(method, input);
  const [group = '', name = ''] = method.split('.');
  const thrown = await centre.central.groups[group]?.[name]?.(token, input).catch((cause) => cause);
  const { code, details } = thrown as RailheadError;
  return [error, { code, details }].map((each) => ({ code: each.code, path: each.details?.path }));
}

function both(path: string) {
  const refusal = { code: 'INVALID_INPUT', path };
  return [refusal, refusal];
}

describe('a key that a record does not allow is named', () => {
  test.each([
    [{ migLayout: { x: 1 } }, 'policy.migLayout.x'],
    [{ kernelModules: { options: { 'bad name': 'x' } } }, 'policy.kernelModules.options.bad name'],
    [
      { kubernetes: { ...kubernetes, nodeLabels: { 'bad key!': 'x' } } },
      'policy.kubernetes.nodeLabels.bad key!',
    ],
  ])('in the policy %j', async (policy, path) => {
    const input = { tenantId: 'root', siteId, policy };
    expect(await refusals('pools.create', input)).toEqual(both(path));
  });

  test('in the labels of a node', async () => {
    const labels = { 'bad key!': 'x' };
    expect(await refusals('nodes.update', { tenantId: 'root', nodeId: 'node-1', labels })).toEqual(
      both('labels.bad key!'),
    );
  });
});

describe('the character NUL, which no database keeps alike, is refused', () => {
  const document = { ...sampleProfile, labels: { a: 'b' } };
  test.each([
    ['tenants.create', { tenantId: 'nul', name: 'x\0y' }, 'name'],
    ['images.register', osImage({ source: 'https://images.example.com/a\0b' }), 'source'],
    [
      'profiles.create',
      { tenantId: 'root', document: { ...document, description: '\0' } },
      'document.description',
    ],
    ['secrets.set', { tenantId: 'root', ref: 'secret://a', text: 'p\0' }, 'text'],
  ])('by %s', async (method, input, path) => {
    expect(await refusals(method, input)).toEqual(both(path));
  });
});

test.each([[1.5], [1e30], [-0.5], ['1']])('a cursor whose version is %j is refused', async (version) => {
  const cursor = encodeCursor(['p', version, 'x']);
  expect(await refusals('profiles.list', { tenantId: 'root', cursor })).toEqual(both('cursor'));
});

test('a cursor with a version that JSON reads as infinite is refused', async () => {
  const cursor = Buffer.from('["p",1e400,"x"]').toString('base64url');
  expect(await refusals('profiles.list', { tenantId: 'root', cursor })).toEqual(both('cursor'));
});

test('a body that is nested deeper than any document is refused, and not by an exhausted stack', async () => {
  const deep = JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`);
  const [overHttp] = await refusals('tenants.create', { tenantId: 'deep', name: deep });
  expect(overHttp?.code).toBe('INVALID_INPUT');
  const { error } = await call('tenants.create', { tenantId: 'deep', name: deep });
  expect(error.message).toContain('nested deeper than');
});

test('a pool is not changed without saying its policy', async () => {
  const policy = { trust: 'tpm', prewarmImages: ['demo-os@1'] };
  const { data } = await call<{ poolId: string }>('pools.create', { tenantId: 'root', siteId, policy });
  const { poolId } = data;
  expect(await refusals('pools.update', { tenantId: 'root', poolId })).toEqual(both('policy'));
  expect(await call('pools.get', { tenantId: 'root', poolId })).toMatchObject({
    data: { policy, version: 1 },
  });
  expect(await call('pools.create', { tenantId: 'root', siteId })).toMatchObject({
    data: { policy: { trust: 'network', prewarmImages: [] } },
  });
});

test.each([
  ['a date', new Date()],
  ['a function', () => {}],
])('in process %s is no policy', async (_what, policy) => {
  const creating = centre.central.groups.pools?.create?.(token, { tenantId: 'root', siteId, policy });
  await expect(creating).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { path: 'policy' } });
});

test('in process a field that is undefined is missing', async () => {
  const listing = centre.central.groups.tenants?.list?.(token, { limit: undefined, cursor: undefined });
  await expect(listing).resolves.toHaveProperty('items');
});
