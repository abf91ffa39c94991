import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSite, startTestCentre, type TestCentre } from './centre.ts';

let centre: TestCentre;
let siteId: string;
beforeAll(async () => {
  centre = await startTestCentre();
  siteId = (await newSite(centre.directory, 'lab')).siteId;
});
afterAll(() => centre.close());

const create = (acceptance: unknown) =>
  centre.call<{ policy: object }>('pools.create', { tenantId: 'root', siteId, policy: { acceptance } });

test("a pool's policy keeps the steps that adopted machines are to pass", async () => {
  const acceptance = [
    { use: 'inventory.refresh', retries: 2 },
    { use: 'diag.dcgm', with: { level: 2 }, timeout: '2h', fallback: [{ use: 'diag.dcgm' }] },
  ];
  expect(await create(acceptance)).toMatchObject({ status: 200, data: { policy: { acceptance } } });
  expect((await create(undefined)).data.policy).not.toHaveProperty('acceptance');
});

test.each<[string, unknown]>([
  ['policy.acceptance', 'diag.dcgm'],
  ['policy.acceptance[0].use', [{}]],
  ['policy.acceptance[0].use', [{ use: 'moon.fly' }]],
  ['policy.acceptance[1].timeout', [{ use: 'diag.dcgm' }, { use: 'diag.dcgm', timeout: 'soon' }]],
  ['policy.acceptance[0].with.level', [{ use: 'diag.dcgm', with: { level: 9 } }]],
  [
    'policy.acceptance[0].fallback[0].when',
    [{ use: 'diag.dcgm', fallback: [{ use: 'diag.dcgm', when: '(' }] }],
  ],
  ['policy.acceptance[0].colour', [{ use: 'diag.dcgm', colour: 'red' }]],
  ['policy.acceptance', [{ use: 'diag.dcgm', fallback: Array(256).fill({ use: 'diag.dcgm' }) }]],
])("such steps are checked as a profile's: %s", async (path, acceptance) => {
  expect(await create(acceptance)).toMatchObject({
    status: 400,
    error: { code: 'INVALID_INPUT', details: { path } },
  });
});
