import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCentre, type TestCentre } from './centre.ts';
import { enroll, prepareLine } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';

let centre: TestCentre;

beforeAll(async () => {
  centre = await startTestCentre();
  const { call, central, directory } = centre;
  const line = await prepareLine({ call, agentsUrl: central.agentsUrl, directory });
  await enroll(line, 'node-1', '52:54:00:00:00:01');
});
afterAll(() => centre.close());

const create = (change: object, more: object = {}) =>
  centre.call('profiles.create', { tenantId: 'root', document: { ...sampleProfile, ...change }, ...more });

test('a version is stored once', async () => {
  expect(await create({ id: 'once' })).toMatchObject({
    status: 200,
    data: { profileId: 'once', profileVersion: 1 },
  });
  expect(await create({ id: 'once' })).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { path: 'version' } },
  });
});

test('the latest version is meant when none is named', async () => {
  await create({ id: 'many' });
  await create({ id: 'many', version: 2 });
  const get = (more: object) => centre.call('profiles.get', { tenantId: 'root', profileId: 'many', ...more });
  expect((await get({})).data).toMatchObject({ profileVersion: 2 });
  expect((await get({ profileVersion: 1 })).data).toMatchObject({ profileVersion: 1 });
  expect(await get({ profileVersion: 3 })).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } });
});

test("a lookup prefers the tenant's own profile, then a public stored one, then a shipped one", async () => {
  await create({ id: 'private' });
  const get = async (profileId: string) =>
    (await centre.call('profiles.get', { tenantId: 'acme', profileId })).data;
  expect(await get('private')).toBeUndefined();
  expect(await get('metal-rescue')).toMatchObject({ tenantId: 'builtin', visibility: 'public', used: true });
  await create({ id: 'metal-rescue', version: 7 }, { visibility: 'public' });
  expect(await get('metal-rescue')).toMatchObject({ tenantId: 'root', profileVersion: 7 });
  const own = { ...sampleProfile, id: 'metal-rescue', version: 3 };
  await centre.call('profiles.create', { tenantId: 'acme', document: own });
  expect(await get('metal-rescue')).toMatchObject({ tenantId: 'acme', profileVersion: 3 });
  await centre.call('profiles.delete', { tenantId: 'root', profileId: 'metal-rescue' });
});

test("the list has the tenant's, public and shipped profiles, by id, a page at a time", async () => {
  await create({ id: 'aaa-shared' }, { visibility: 'public' });
  await create({ id: 'aaa-private' });
  const list = async (more: object) =>
    (
      await centre.call<{ items: { profileId: string; tenantId: string }[]; cursor?: string }>(
        'profiles.list',
        {
          tenantId: 'acme2',
          ...more,
        },
      )
    ).data;
  const { items } = await list({ limit: 200 });
  const names = items.map(({ profileId }) => profileId);
  expect(names).toContain('aaa-shared');
  expect(names).not.toContain('aaa-private');
  expect(items.filter(({ tenantId }) => tenantId === 'builtin').length).toBeGreaterThan(10);
  expect(names).toEqual(names.toSorted());
  const paged: string[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await list({ limit: 3, ...(cursor !== undefined && { cursor }) });
    paged.push(...page.items.map(({ profileId }) => profileId));
    cursor = page.cursor;
  }
  expect(paged).toEqual(names);
});

test('the list goes on after the longest names', async () => {
  const tenantId = 'T'.repeat(128);
  await centre.call('tenants.create', { tenantId, name: 'long' });
  const [id, largest] = ['0'.repeat(128), Number.MAX_SAFE_INTEGER];
  for (const version of [1, largest])
    await centre.call('profiles.create', { tenantId, document: { ...sampleProfile, id, version } });
  const list = async (more: object) =>
    (
      await centre.call<{ items: { profileVersion: number }[]; cursor?: string }>('profiles.list', {
        tenantId,
        limit: 1,
        ...more,
      })
    ).data;
  const first = await list({});
  expect(first.items).toMatchObject([{ profileVersion: 1 }]);
  const second = await list({ cursor: first.cursor });
  expect(second.items).toMatchObject([{ profileVersion: largest }]);
  const third = await list({ cursor: second.cursor });
  expect(third.items).toHaveLength(1);
  expect(third.items).not.toMatchObject(second.items);
});

test("of several tenants' public profiles of one id the platform's counts, then the first that was stored", async () => {
  const publish = (tenantId: string, version: number) =>
    centre.call('profiles.create', {
      tenantId,
      document: { ...sampleProfile, id: 'contested', version },
      visibility: 'public',
    });
  const get = async (more: object = {}) =>
    (await centre.call('profiles.get', { tenantId: 'beta', profileId: 'contested', ...more })).data;
  await publish('first', 1);
  await publish('late', 9);
  expect(await get()).toMatchObject({ tenantId: 'first', profileVersion: 1 });
  expect(await get({ profileVersion: 9 })).toMatchObject({ tenantId: 'late' });
  await publish('root', 2);
  expect(await get()).toMatchObject({ tenantId: 'root', profileVersion: 2 });
  expect(await get({ profileVersion: 1 })).toMatchObject({ tenantId: 'first' });
});

test('a list page has at most 200 profiles', async () => {
  expect(await centre.call('profiles.list', { tenantId: 'root', limit: 201 })).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path: 'limit' } },
  });
});

test.each([
  ['steps[0].timeout', { steps: [{ use: 'userdata.render', timeout: 'soon' }] }],
  ['colour', { colour: 'blue' }],
  ['steps[0].when', { steps: [{ use: 'userdata.render', when: 'a b' }] }],
  ['cleanup[0].onFailure', { cleanup: [{ use: 'boot.cleanUp', onFailure: 'fallback' }] }],
])('through the API a document that is no profile is INVALID_INPUT naming %s', async (path, change) => {
  expect(await create({ id: 'refused', ...change })).toMatchObject({
    status: 400,
    error: { code: 'INVALID_INPUT', details: { path } },
  });
});

test('a document that nests without end is refused, not followed', async () => {
  let deep: unknown = 1;
  for (let level = 0; level < 3000; level++) deep = [deep];
  expect(await create({ steps: [{ use: 'a.b', with: { deep } }] })).toMatchObject({
    status: 400,
    error: { code: 'INVALID_INPUT', message: expect.stringContaining('nested deeper than 64 levels') },
  });
});

test('nothing is stored under the tenant of the shipped profiles', async () => {
  const input = { tenantId: 'builtin', document: sampleProfile };
  expect(await centre.call('profiles.create', input)).toMatchObject({
    error: { details: { path: 'tenantId' } },
  });
});

const on = (profileId: string, more: object = {}) => ({ tenantId: 'root', profileId, ...more });

const deployOf = (image: string) => ({ use: 'deploy.deploy', with: { image } });
const invoked = { use: 'driver.invoke', with: { concern: 'power', operation: 'getPower' } };
const rendered = { userData: { kind: 'cloud-init', template: 'bcd-host.yaml.hbs' } };
const vps = { target: 'vps', role: undefined };

test('validate reports every problem at once with its path', async () => {
  const userData = { kind: 'cloud-init', template: 'none.yaml' };
  const steps = [
    { use: 'moon.fly', fallback: [{ use: 'power.setPower', with: { action: 'up' } }] },
    { use: 'deploy.deploy', on: 'site', with: { image: 'lost@1', colour: 1 } },
    { use: 'media.insert', with: {} },
    { use: 'media.insert', with: { fromStep: 'later.step' } },
    { use: 'media.insert', with: { image: 'demo-os@1' } },
  ];
  await create({
    id: 'broken',
    image: { ref: 'absent@1' },
    userData,
    steps,
    cleanup: [{ use: 'disk.wipe' }],
  });
  const { data } = await centre.call<{ valid: boolean; issues: { path: string }[] }>(
    'profiles.validate',
    on('broken'),
  );
  expect(data.valid).toBe(false);
  expect(data.issues.map(({ path }) => path)).toEqual([
    'image.ref',
    'steps[1].with.image',
    'steps[4].with.image',
    'userData.template',
    'steps[1]',
    'steps[0].use',
    'steps[0].fallback[0].with.action',
    'steps[1].on',
    'steps[1].with.colour',
    'steps[2].with',
    'steps[3].with.fromStep',
    'cleanup[0].with.mode',
  ]);
});

test.each<[string, string, object]>([
  [
    'an unknown image in a fallback',
    'steps[0].fallback[0].with.image',
    { steps: [{ use: 'power.getPower', fallback: [deployOf('nope@1')] }] },
  ],
  [
    'an unknown image in the cleanup',
    'cleanup[0].with.image',
    { cleanup: [{ use: 'media.insert', with: { image: 'nope@1' } }] },
  ],
  ['a deploy of no image', 'steps[0].with.image', { image: undefined, steps: [{ use: 'deploy.deploy' }] }],
  [
    'an iso written to disk',
    'steps[0]',
    { image: { ref: 'demo-os@1', format: 'iso' }, steps: [{ use: 'deploy.deploy' }] },
  ],
  ['a render of nothing', 'steps[0]', { steps: [{ use: 'userdata.render' }] }],
  [
    'a late render in acceptance',
    'acceptance[0]',
    { ...rendered, acceptance: [{ use: 'deploy.deploy' }, { use: 'userdata.render' }] },
  ],
  [
    'a late render in a fallback',
    'steps[0].fallback[0]',
    { ...rendered, steps: [{ use: 'power.getPower', fallback: [{ use: 'deploy.deploy' }] }] },
  ],
  [
    'a step of machines on a vps',
    'steps[1].use',
    {
      ...vps,
      steps: [
        { use: 'wait.agentJoined', with: { role: 'node' } },
        { use: 'disk.wipe', with: { mode: 'quick' } },
      ],
    },
  ],
  ['a driver that no site has', 'steps[0].with.operation', { drivers: { power: 'snmp' }, steps: [invoked] }],
  [
    'what its driver cannot do',
    'steps[0].with.operation',
    { drivers: { raid: 'redfish' }, steps: [{ ...invoked, with: { concern: 'raid', operation: 'build' } }] },
  ],
])('validate reports %s at %s', async (name, path, change) => {
  const id = name.replaceAll(' ', '-');
  expect(await create({ id, userData: undefined, steps: [], cleanup: [], ...change })).toMatchObject({
    status: 200,
  });
  const { data } = await centre.call<{ valid: boolean; issues: { path: string }[] }>(
    'profiles.validate',
    on(id),
  );
  expect(data.issues.map((issue) => issue.path)).toEqual([path]);
  expect(data.valid).toBe(false);
});

test('a profile without a fault is valid', async () => {
  await create({ id: 'sound', userData: undefined, steps: [{ use: 'deploy.deploy' }] });
  expect((await centre.call('profiles.validate', on('sound'))).data).toEqual({
    profileId: 'sound',
    profileVersion: 1,
    valid: true,
    issues: [],
  });
  for (const { data } of [await centre.call('profiles.validate', on('metal-commission'))])
    expect(data).toMatchObject({ valid: true, issues: [] });
});

test('render shows the expanded steps: defaults filled in, fallbacks after their step, phases in order', async () => {
  const steps = [
    { use: 'diag.dcgm', retries: 2, when: 'gpu', fallback: [{ use: 'power.getPower', timeout: '5s' }] },
  ];
  await create({ id: 'expanded', steps, acceptance: [{ use: 'boot.kexec' }] });
  const { data } = await centre.call<{ steps: object[] }>('profiles.render', on('expanded'));
  expect(data.steps).toMatchObject([
    {
      use: 'diag.dcgm',
      path: 'steps[0]',
      phase: 'main',
      with: { level: 1 },
      timeoutMs: 3_600_000,
      retries: 2,
      when: 'gpu',
      onFailure: 'fallback',
    },
    {
      use: 'power.getPower',
      path: 'steps[0].fallback[0]',
      timeoutMs: 5_000,
      fallbackOf: 0,
      onFailure: 'fail',
    },
    { use: 'boot.kexec', path: 'acceptance[0]', phase: 'main', await: 'rejoin', timeoutMs: 900_000 },
    { use: 'boot.cleanUp', path: 'cleanup[0]', phase: 'cleanup' },
  ]);
});

test("update replaces an unused version's document, once its row is as the caller saw it", async () => {
  await create({ id: 'draft' });
  const document = { ...sampleProfile, id: 'draft', description: 'better' };
  const update = (more: object) => centre.call('profiles.update', on('draft', more));
  expect((await update({ document, ifVersion: 1 })).data).toMatchObject({
    rowVersion: 2,
    document: { description: 'better' },
  });
  expect(await update({ document, ifVersion: 1 })).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { path: 'ifVersion', expected: 1, found: 2 } },
  });
  expect(await update({ document: { ...document, version: 2 } })).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path: 'version' } },
  });
  expect(await update({ document: { ...document, colour: 1 } })).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path: 'colour' } },
  });
  expect(await update({})).toMatchObject({ error: { code: 'INVALID_INPUT' } });
});

test('update changes who sees a version', async () => {
  await create({ id: 'opened' });
  const seen = () => centre.call('profiles.get', { tenantId: 'acme', profileId: 'opened' });
  expect((await seen()).status).toBe(404);
  await centre.call('profiles.update', on('opened', { visibility: 'public' }));
  expect((await seen()).data).toMatchObject({ visibility: 'public' });
});

test('a shipped profile is read-only, and another tenant’s is not found', async () => {
  for (const name of ['update', 'delete']) {
    const more = name === 'update' ? { visibility: 'private' } : {};
    expect(await centre.call(`profiles.${name}`, on('metal-inspect', more))).toMatchObject({
      error: { code: 'INVALID_STATE', details: { reason: 'shipped' } },
    });
    await create({ id: 'theirs' }, { visibility: 'public' });
    const foreign = { tenantId: 'acme', profileId: 'theirs', ...more };
    expect(await centre.call(`profiles.${name}`, foreign)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  }
});

test('delete hides one version, or all, and a hidden number is not given again', async () => {
  for (const version of [1, 2, 3]) await create({ id: 'passing', version });
  const remove = (more: object) => centre.call('profiles.delete', on('passing', more));
  expect((await remove({ profileVersion: 3 })).data).toEqual({ deleted: 1 });
  expect((await centre.call('profiles.get', on('passing'))).data).toMatchObject({ profileVersion: 2 });
  expect((await centre.call('profiles.get', on('passing', { profileVersion: 3 }))).status).toBe(404);
  expect(await create({ id: 'passing', version: 3 })).toMatchObject({ error: { code: 'CONFLICT' } });
  expect((await remove({})).data).toEqual({ deleted: 2 });
  expect((await remove({})).status).toBe(404);
});

test.each([
  ['create', 'manage'],
  ['update', 'manage'],
  ['delete', 'manage'],
  ['get', 'read'],
  ['list', 'read'],
  ['validate', 'read'],
  ['render', 'read'],
])('%s is decided as compute:profiles:%s on the tenant', async (name, action) => {
  const input =
    {
      create: { tenantId: 'root', document: {} },
      update: on('sound', { visibility: 'private' }),
      list: { tenantId: 'root' },
    }[name] ?? on('sound');
  const other = action === 'manage' ? 'read' : 'manage';
  const lacking = await centre.tokenFor(
    `compute:profiles:${other}@compute-tenant:root`,
    `compute:profiles:${action}@compute-tenant:acme`,
  );
  expect(await lacking(`profiles.${name}`, input)).toMatchObject({
    status: 403,
    error: { details: { action: `compute:profiles:${action}` } },
  });
  const granted = await centre.tokenFor(`compute:profiles:${action}@compute-tenant:root`);
  expect((await granted(`profiles.${name}`, input)).status).not.toBe(403);
});

test.each([
  [422, 'UNSUPPORTED', 'steps[0].use', [{ use: 'moon.fly' }]],
  [400, 'INVALID_INPUT', 'steps[0].on', [{ use: 'power.setPower', on: 'ramdisk', with: { action: 'on' } }]],
  [
    400,
    'INVALID_INPUT',
    'steps[1].with.action',
    [{ use: 'userdata.render' }, { use: 'power.setPower', with: { action: 'fly' } }],
  ],
  [400, 'INVALID_INPUT', 'steps[0].with.colour', [{ use: 'userdata.render', with: { colour: 1 } }]],
])(
  'deploying a stored profile answers %i %s naming %s, and starts nothing',
  async (status, code, path, steps) => {
    const id = `bad-${path.replaceAll(/\W/g, '-')}`;
    expect((await create({ id, steps })).status).toBe(200);
    const answer = await centre.call('metal.deploy', { tenantId: 'root', nodeId: 'node-1', profileId: id });
    expect(answer).toMatchObject({ status, error: { code, details: { path } } });
    const { data } = await centre.call<{ items: object[] }>('workflows.list', { tenantId: 'root' });
    expect(data.items).toEqual([]);
  },
);

test.each([
  ['nodeId', { nodeId: 'node-none' }],
  ['profileId', { profileId: 'none' }],
])('deploying with an unknown %s is NOT_FOUND', async (path, change) => {
  const input = { tenantId: 'root', nodeId: 'node-1', profileId: sampleProfile.id, ...change };
  expect(await centre.call('metal.deploy', input)).toMatchObject({
    status: 404,
    error: { details: { path } },
  });
});

test('a workflow of another tenant is not found', async () => {
  const input = { tenantId: 'root', workflowId: `wf_${'0'.repeat(26)}` };
  for (const name of ['get', 'cancel', 'events'])
    expect(await centre.call(`workflows.${name}`, input)).toMatchObject({
      status: 404,
      error: { code: 'NOT_FOUND' },
    });
});
