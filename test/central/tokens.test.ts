import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseGrant } from '#central/api/grants.ts';
import { apiClient, type Call, mustRegister, osImage, startTestCentre, type TestCentre } from './centre.ts';

let centre: TestCentre;
let imageId: string;

beforeAll(async () => {
  centre = await startTestCentre();
  for (const tenantId of ['beta', 'gamma', 'other']) await centre.call('tenants.create', { tenantId });
  imageId = (await mustRegister(centre.call, osImage({ tenantId: 'acme', ref: 'os@1' }))).imageId;
});
afterAll(() => centre.close());

interface Minted {
  tokenId: string;
  token: string;
  expiresAt: string;
}

const grants = (...texts: string[]) => texts.map(parseGrant);
const mint = (call: Call, input: object) => call<Minted>('tokens.create', { name: 'minted', ...input });
const as = (token: string) => apiClient(centre.central.apiUrl, token);

describe('a token never mints more than it may itself', () => {
  const manage = 'compute:tokens:manage@compute-tenant:acme';
  const image = () => `compute:images:read@compute-image:${imageId}`;
  test.each([
    ['the same', 'compute:images:*@compute-tenant:acme', () => 'compute:images:*@compute-tenant:acme'],
    [
      'one action of many',
      'compute:images:*@compute-tenant:acme',
      () => 'compute:images:read@compute-tenant:acme',
    ],
    ['one image of its tenant', 'compute:images:read@compute-tenant:acme', image],
    ['one image of all', 'compute:images:read@compute-image:*', image],
    [
      'one tenant of all',
      'compute:images:read@compute-tenant:*',
      () => 'compute:images:read@compute-tenant:beta',
    ],
    [
      'a tenant of the fleet',
      'compute:images:read@compute-fleet:fleet',
      () => 'compute:images:read@compute-tenant:*',
    ],
    [
      'the fleet by its other name',
      'compute:images:read@compute-fleet:fleet',
      () => 'compute:images:read@compute-fleet:*',
    ],
  ])('%s is within', async (_, held, wanted) => {
    const { status } = await mint(await centre.tokenFor(manage, held), {
      tenantId: 'acme',
      grants: grants(wanted()),
    });
    expect(status).toBe(200);
  });

  test.each([
    [
      'another action',
      'compute:images:read@compute-tenant:acme',
      () => 'compute:images:publish@compute-tenant:acme',
    ],
    ['every action', 'compute:images:read@compute-tenant:acme', () => 'compute:images:*@compute-tenant:acme'],
    [
      'another tenant',
      'compute:images:read@compute-tenant:acme',
      () => 'compute:images:read@compute-tenant:other',
    ],
    ['every tenant', 'compute:images:read@compute-tenant:acme', () => 'compute:images:read@compute-tenant:*'],
    ['the fleet', 'compute:images:read@compute-tenant:*', () => 'compute:images:read@compute-fleet:fleet'],
    ['an image of another tenant', 'compute:images:read@compute-tenant:other', image],
    ['every image', 'compute:images:read@compute-tenant:acme', () => 'compute:images:read@compute-image:*'],
    [
      'an image that there is not',
      'compute:images:read@compute-tenant:acme',
      () => 'compute:images:read@compute-image:img_00000000000000000000000000',
    ],
  ])('%s is beyond', async (_, held, wanted) => {
    const call = await centre.tokenFor(manage, held);
    expect(await mint(call, { tenantId: 'acme', grants: grants(held, wanted()) })).toMatchObject({
      status: 403,
      error: { code: 'FORBIDDEN', details: { path: 'grants[1]', reason: 'beyond-own' } },
    });
  });

  test('nor for longer than it is good for', async () => {
    const call = await centre.tokenFor(manage);
    const own = { tenantId: 'acme', grants: grants(manage) };
    const { data } = await mint(call, own);
    expect(Date.parse(data.expiresAt)).toBeLessThan(Date.now() + 3_600_000);
    expect(await mint(call, { ...own, validFor: '1h' })).toMatchObject({
      status: 403,
      error: { details: { path: 'validFor', reason: 'beyond-own', expiresAt: expect.any(String) } },
    });
    expect(await mint(call, { ...own, validFor: '9000h' })).toMatchObject({
      status: 400,
      error: { details: { path: 'validFor' } },
    });
  });
});

test('a token that is minted is shown once, listed without it, and of its tenant alone', async () => {
  const { data } = await mint(centre.call, {
    tenantId: 'beta',
    name: 'ci',
    grants: grants('compute:images:read@compute-tenant:beta'),
    validFor: '10s',
  });
  expect((await as(data.token)('images.list', { tenantId: 'beta' })).status).toBe(200);
  const listed = await centre.call('tokens.list', { tenantId: 'beta' });
  expect(listed.data).toMatchObject({
    items: [
      { tokenId: data.tokenId, name: 'ci', tenantId: 'beta', parentId: expect.stringMatching(/^tok_/) },
    ],
  });
  expect(JSON.stringify(listed)).not.toContain(data.token);
  expect((await centre.call('tokens.list', { tenantId: 'gamma' })).data).toEqual({ items: [] });
  expect(await centre.call('tokens.revoke', { tenantId: 'gamma', tokenId: data.tokenId })).toMatchObject({
    status: 404,
  });
});

test('a revoked token is worthless at once, and so is every one that came from it', async () => {
  const own = grants('compute:*@compute-tenant:acme');
  const parent = (await mint(centre.call, { tenantId: 'acme', grants: own, validFor: '20s' })).data;
  const child = (await mint(as(parent.token), { tenantId: 'acme', grants: own })).data;
  const grandchild = (await mint(as(child.token), { tenantId: 'acme', grants: own })).data;
  const works = async (token: string) => (await as(token)('images.list', { tenantId: 'acme' })).status;
  expect([await works(parent.token), await works(grandchild.token)]).toEqual([200, 200]);
  const { data } = await centre.call<{ revoked: string[] }>('tokens.revoke', { tokenId: parent.tokenId });
  expect(data.revoked).toEqual([parent.tokenId, child.tokenId, grandchild.tokenId]);
  for (const { token } of [parent, child, grandchild])
    expect(await as(token)('images.list', { tenantId: 'acme' })).toMatchObject({
      status: 401,
      error: { details: { reason: 'revoked' } },
    });
  expect((await centre.call('tokens.revoke', { tokenId: parent.tokenId })).status).toBe(404);
});

test('what changes something needs a tenant that there is', async () => {
  const call = await centre.tokenFor('compute:*@compute-fleet:*');
  expect(await call('images.register', osImage({ tenantId: 'nobody' }))).toMatchObject({
    status: 404,
    error: { code: 'NOT_FOUND', details: { path: 'tenantId', tenantId: 'nobody' } },
  });
  expect(
    (await centre.call('tenants.create', { tenantId: 'nobody', name: 'Nobody Ltd' })).data,
  ).toMatchObject({
    tenantId: 'nobody',
    name: 'Nobody Ltd',
  });
  expect((await centre.call('images.register', osImage({ tenantId: 'nobody' }))).status).toBe(200);
  expect(await centre.call('tenants.create', { tenantId: 'nobody' })).toMatchObject({ status: 409 });
  expect(await centre.call('tenants.create', { tenantId: 'builtin' })).toMatchObject({
    status: 400,
    error: { details: { path: 'tenantId' } },
  });
});

test('a tenant that owns something stays; one that owns nothing goes, and its tokens with it', async () => {
  const refused = { status: 409, error: { code: 'INVALID_STATE', details: { reason: 'in-use' } } };
  expect(await centre.call('tenants.delete', { tenantId: 'acme' })).toMatchObject(refused);
  expect(await centre.call('tenants.delete', { tenantId: 'root' })).toMatchObject(refused);
  await centre.call('tenants.create', { tenantId: 'leaving' });
  const { data } = await mint(centre.call, {
    tenantId: 'leaving',
    grants: grants('compute:*@compute-tenant:leaving'),
    validFor: '20s',
  });
  expect((await centre.call('tenants.delete', { tenantId: 'leaving' })).status).toBe(200);
  expect((await as(data.token)('images.list', { tenantId: 'leaving' })).status).toBe(401);
  expect(
    (await (await centre.tokenFor('compute:*@compute-fleet:*'))('tenants.get', { tenantId: 'leaving' }))
      .status,
  ).toBe(404);
});

test('the record says who, from where, what on what, and how it ended; no secret is in it', async () => {
  const begun = new Date().toISOString();
  await centre.call('secrets.set', { tenantId: 'acme', ref: 'secret://bmc/audited', text: 'root:hunter2' });
  const token = (
    await mint(centre.call, { grants: grants('compute:nodes:read@compute-fleet:*'), validFor: '5s' })
  ).data;
  const { data } = await centre.call<{ items: Record<string, unknown>[] }>('audit.list', { since: begun });
  expect(data.items).toMatchObject([
    {
      actor: expect.stringMatching(/^tok_/),
      address: '127.0.0.1',
      method: 'secrets.set',
      action: 'compute:secrets:manage',
      scope: 'compute-tenant:acme',
      tenantId: 'acme',
      subject: { ref: 'secret://bmc/audited' },
      outcome: 'ok',
      endedAt: expect.any(String),
    },
    {
      method: 'tokens.create',
      scope: 'compute-fleet:fleet',
      subject: { name: 'minted', tokenId: token.tokenId },
    },
  ]);
  expect(JSON.stringify(data)).not.toMatch(new RegExp(`hunter2|${token.token}`));
  const page = await centre.call<{ items: object[]; cursor: string }>('audit.list', {
    since: begun,
    limit: 1,
  });
  const next = { since: begun, limit: 1, cursor: page.data.cursor };
  expect((await centre.call<{ items: object[] }>('audit.list', next)).data.items).toEqual([data.items[1]]);
});

test('one token comes as often as it may; another is not held back', async () => {
  const slow = await startTestCentre({ rates: { token: { perSecond: 0.5, burst: 3 } } });
  const [one, other] = [await slow.tokenFor('compute:*@compute-fleet:*'), slow.call];
  const answers = [];
  for (let count = 0; count < 4; count++) answers.push(await one('sites.list'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(answers[3]?.error).toMatchObject({
    code: 'RATE_LIMITED',
    details: { reason: 'token', retryAfterSeconds: 2 },
  });
  expect((await other('sites.list')).status).toBe(200);
  await slow.close();
});
