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

test('another tenant sees a profile when it is public, and its own before that', async () => {
  await create({ id: 'private' });
  await create({ id: 'shared' }, { visibility: 'public' });
  const get = (profileId: string) => centre.call('profiles.get', { tenantId: 'acme', profileId });
  expect((await get('private')).status).toBe(404);
  expect((await get('shared')).data).toMatchObject({ tenantId: 'root' });
  await centre.call('profiles.create', { tenantId: 'acme', document: { ...sampleProfile, id: 'shared' } });
  expect((await get('shared')).data).toMatchObject({ tenantId: 'acme' });
  const { data } = await centre.call<{ items: object[] }>('profiles.list', { tenantId: 'acme' });
  expect(data.items).toMatchObject([
    { profileId: 'shared', tenantId: 'acme' },
    { profileId: 'shared', tenantId: 'root' },
  ]);
});

test.each([
  [400, 'INVALID_INPUT', 'steps[0].timeout', { steps: [{ use: 'userdata.render', timeout: 'soon' }] }],
  [400, 'INVALID_INPUT', 'colour', { colour: 'blue' }],
  [422, 'UNSUPPORTED', 'steps[0].when', { steps: [{ use: 'userdata.render', when: 'nvswitch' }] }],
  [
    400,
    'INVALID_INPUT',
    'cleanup[0].onFailure',
    { cleanup: [{ use: 'boot.cleanUp', onFailure: 'fallback' }] },
  ],
])('storing answers %i %s naming %s', async (status, code, path, change) => {
  expect(await create({ id: 'refused', ...change })).toMatchObject({
    status,
    error: { code, details: { path } },
  });
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
