import { expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { revokeAgent } from '#central/join/revoke.ts';
import { mustRegister, osImage } from './centre.ts';
import { joinAs } from './fakeSite.ts';
import { deploy, follow, workflow } from './line.ts';
import { metalStage, nodeRecord } from './metalStage.ts';
import { sampleProfile } from './sampleProfile.ts';
import type { Stage } from './stage.ts';

async function joinOs({ line }: Stage): Promise<void> {
  const { token } = await onHost(line.directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId: 'node-2', validMs: 60_000 }),
  );
  await joinAs(line.agentsUrl, 'node', 'node-2', token);
}

/** Runs a profile of these steps on `node-2`. */
async function run(stage: Stage, steps: object[], more: object = {}) {
  const { call } = stage.line;
  const document = { ...sampleProfile, id: 'steps-only', userData: undefined, steps, cleanup: [], ...more };
  const created = await call('profiles.create', { tenantId: 'root', document });
  if (created.error !== undefined) throw new Error(created.error.message);
  const workflowId = await deploy(stage.line, 'node-2', { profileId: 'steps-only' });
  await follow(call, workflowId);
  return workflow(call, workflowId);
}

const given = ({ site }: Stage, action: string) =>
  site.taken.filter((operation) => operation.action === action).map(({ input }) => input);

test.each([{}, { on: 'ramdisk' }])(
  'nothing is asked of a ramdisk that has started the OS: %j',
  async (on) => {
    const stage = await metalStage();
    const { steps, userData } = sampleProfile;
    const ended = await run(stage, steps, { userData, acceptance: [{ use: 'diag.dcgm', ...on }] });
    expect(ended).toMatchObject({
      state: 'failed',
      error: { code: 'INVALID_STATE', details: { reason: 'no-ramdisk' } },
    });
    expect(ended.steps.at(-2)).toMatchObject({ use: 'boot.kexec', state: 'succeeded' });
    expect(given(stage, 'diag.dcgm')).toEqual([]);
  },
);

test('media.insert mounts a URL, the url of an earlier step, or an iso of the catalog by its https source', async () => {
  const url = 'https://isos.example.com/node-2.iso';
  const stage = await metalStage({ 'inspect.oob': { url } });
  const iso = osImage({
    ref: 'installer@1',
    format: 'iso',
    compression: 'none',
    sha256: 'b'.repeat(64),
    source: 'https://isos.example.com/installer.iso',
  });
  await mustRegister(stage.line.call, stage.line.signer.signed(iso));
  const insert = (input: object) => ({ use: 'media.insert', with: input });
  const steps = [
    insert({ url: 'https://a.example.com/x.iso' }),
    { use: 'inspect.oob' },
    insert({ fromStep: 'inspect.oob' }),
    insert({ image: 'installer@1' }),
    { use: 'media.eject' },
  ];
  expect(await run(stage, steps)).toMatchObject({ state: 'succeeded' });
  expect(given(stage, 'media.insert')).toEqual([
    { url: 'https://a.example.com/x.iso' },
    { url },
    { url: iso.source },
  ]);
});

test.each([
  [
    'an image that is no iso',
    'INVALID_INPUT',
    { path: 'image' },
    [{ use: 'media.insert', with: { image: 'demo-os@1' } }],
  ],
  [
    'an iso that is compressed',
    'INVALID_INPUT',
    { path: 'image' },
    [{ use: 'media.insert', with: { image: 'packed@1' } }],
  ],
  [
    'an iso that is not signed',
    'INVALID_STATE',
    { reason: 'unsigned' },
    [{ use: 'media.insert', with: { image: 'unsigned@1' } }],
  ],
  [
    'a step that returned no url',
    'INVALID_CONFIG',
    { reason: 'no-url' },
    [{ use: 'power.getPower' }, { use: 'media.insert', with: { fromStep: 'power.getPower' } }],
  ],
] as const)('media.insert refuses %s', async (_what, code, details, steps) => {
  const stage = await metalStage();
  await mustRegister(
    stage.line.call,
    osImage({ ref: 'unsigned@1', format: 'iso', compression: 'none', sha256: 'c'.repeat(64) }),
  );
  const packed = osImage({ ref: 'packed@1', format: 'iso', compression: 'zstd', sha256: 'd'.repeat(64) });
  await mustRegister(stage.line.call, stage.line.signer.signed(packed));
  expect(await run(stage, [...steps])).toMatchObject({ state: 'failed', error: { code, details } });
  expect(given(stage, 'media.insert')).toEqual([]);
});

test("driver.invoke uses the profile's driver, else the node's; without one it fails", async () => {
  const stage = await metalStage();
  const invoke = (concern: string) => ({ use: 'driver.invoke', with: { concern, operation: 'getPower' } });
  const drivers = { bios: { driver: 'redfish', config: { attempts: 2 } } };
  const ended = await run(stage, [invoke('power'), invoke('bios'), invoke('raid')], { drivers });
  expect(given(stage, 'driver.invoke')).toMatchObject([
    {
      concern: 'power',
      driver: 'redfish',
      config: { address: 'https://10.78.0.11' },
      operation: 'getPower',
      input: {},
    },
    { concern: 'bios', driver: 'redfish', config: { attempts: 2 } },
  ]);
  expect(ended).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_CONFIG', details: { path: 'drivers.raid' } },
  });
});

const noNode = { state: 'failed', error: { code: 'INVALID_STATE', details: { reason: 'no-node' } } };

test('a step that the profile wants on the running OS needs one that has joined', async () => {
  expect(await run(await metalStage(), [{ use: 'diag.dcgm', on: 'node' }])).toMatchObject(noNode);
});

test('a revoked OS is asked nothing', async () => {
  const stage = await metalStage();
  await joinOs(stage);
  await onHost(stage.line.directory, ({ store }) =>
    revokeAgent(store, { role: 'node', id: 'node-2' }, { why: 'lost', by: 'host' }),
  );
  expect(await run(stage, [{ use: 'diag.dcgm', on: 'node' }])).toMatchObject(noNode);
});

test('an OS that was not heard for long is not connected', async () => {
  const stage = await metalStage();
  await joinOs(stage);
  await onHost(stage.line.directory, ({ store }) =>
    store.updateTable('agents').set({ joined_at: '2026-01-01T00:00:00.000Z' }).execute(),
  );
  expect(await run(stage, [{ use: 'diag.dcgm' }])).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_STATE', details: { reason: 'no-ramdisk' } },
  });
});

test('labels that operators set decide a when, and win over facts', async () => {
  const stage = await metalStage();
  const { call } = stage.line;
  const labels = { nvswitch: 'true', site: 'lab' };
  const updated = await call('nodes.update', { tenantId: 'root', nodeId: 'node-2', labels });
  expect(updated.data).toMatchObject({ labels });
  const bad = await call('nodes.update', {
    tenantId: 'root',
    nodeId: 'node-2',
    labels: { 'not valid': 'x' },
  });
  expect(bad).toMatchObject({ error: { code: 'INVALID_INPUT' } });
  const steps = [
    { use: 'power.getPower', when: 'nvswitch && site == lab' },
    { use: 'power.getPower', when: '!nvswitch' },
  ];
  const ended = await run(stage, steps);
  expect(ended.steps.map(({ state }) => state)).toEqual(['succeeded', 'skipped']);
  expect(await nodeRecord(stage)).toMatchObject({ labels });
});
