import { expect, test } from 'vitest';
import { bootMachine, deploy, enroll, follow, workflow } from './line.ts';
import {
  type Answers,
  bmc,
  expectWrongState,
  inventory,
  metalStage,
  nodeRecord,
  runMetal,
  signed,
  wiped,
} from './metalStage.ts';
import { sampleProfile } from './sampleProfile.ts';
import { failedWith, type Stage } from './stage.ts';

test('enroll asks the BMC which machine it is: power, then the inspection out of band', async () => {
  const stage = await metalStage();
  const { call, siteId, poolId } = stage.line;
  const machine = { tenantId: 'root', siteId, poolId, nodeId: 'node-3', macs: ['52:54:00:00:00:03'], bmc };
  const { data } = await call<{ state: string; workflowId: string }>('metal.enroll', machine);
  expect(data.state).toBe('enrolling');
  await follow(call, data.workflowId);
  expect(await workflow(call, data.workflowId)).toMatchObject({
    state: 'succeeded',
    profileId: 'metal-enroll',
    profileVersion: 1,
    steps: [{ use: 'power.getPower' }, { use: 'inspect.oob' }],
  });
  expect(await nodeRecord(stage, 'node-3')).toMatchObject({ state: 'enrolled' });
});

test('inspect boots the ramdisk, takes the inventory and cleans up', async () => {
  const stage = await metalStage();
  const { ended, node } = await runMetal(stage, 'inspect');
  expect(ended).toMatchObject({
    state: 'succeeded',
    profileId: 'metal-inspect',
    steps: [
      { use: 'metal.ensureRamdisk', result: { booted: true } },
      { use: 'inventory.refresh' },
      { use: 'boot.cleanUp' },
    ],
  });
  expect(node).toMatchObject({ state: 'enrolled', inventory, inventoryAt: expect.any(String) });
});

test('commission tests GPUs, wipes quickly, powers off and makes the node ready', async () => {
  const stage = await metalStage();
  const first = await runMetal(stage, 'commission');
  expect(first.node).toMatchObject({ state: 'ready' });
  expect(first.ended.steps.map(({ use, state }) => [use, state])).toEqual([
    ['metal.ensureRamdisk', 'succeeded'],
    ['diag.dcgm', 'succeeded'],
    ['disk.wipe', 'succeeded'],
    ['power.setPower', 'succeeded'],
    ['boot.cleanUp', 'succeeded'],
  ]);
  const taken = (action: string) =>
    stage.site.taken.filter((one) => one.action === action).map(({ input }) => input);
  expect(taken('diag.dcgm')).toEqual([{ level: 2 }]);
  expect(taken('disk.wipe')).toEqual([{ mode: 'quick' }]);
  expect(taken('power.setPower').at(-1)).toEqual({ action: 'off' });
});

test('a machine that says itself that it has no NVIDIA GPU is commissioned without a test', async () => {
  const result = { level: 2, gpus: 0, tests: [] };
  const { ended, node } = await runMetal(await metalStage({ 'diag.dcgm': result }), 'commission');
  expect(ended.steps[1]).toMatchObject({ use: 'diag.dcgm', state: 'succeeded', result });
  expect(node).toMatchObject({ state: 'ready' });
});

test('undeploy wipes by its mode, takes role and host configuration, and makes the node ready', async () => {
  const stage = await metalStage();
  await follow(stage.line.call, await deploy(stage.line, 'node-2'));
  expect(await nodeRecord(stage)).toMatchObject({ state: 'active', role: 'host' });
  const { ended, node } = await runMetal(stage, 'undeploy', { mode: 'crypto-erase' });
  expect(ended.steps.map(({ use }) => use)).toEqual([
    'metal.ensureRamdisk',
    'disk.wipe',
    'power.setPower',
    'boot.cleanUp',
  ]);
  expect(ended.steps[1]?.result).toMatchObject({ mode: 'crypto-erase', attested: true });
  expect(node).toMatchObject({ state: 'ready' });
  expect(node).not.toHaveProperty('role');
});

test.each([
  ['secure-erase', {}],
  ['none', { mode: 'none' }],
])('an undeploy wipes by %s when told %j', async (mode, more) => {
  const stage = await metalStage();
  await follow(stage.line.call, await deploy(stage.line, 'node-2'));
  const { ended, node } = await runMetal(stage, 'undeploy', more);
  expect(ended.steps[1]?.result).toMatchObject({ mode, attested: true });
  expect(node).toMatchObject({ state: 'ready' });
});

test('a wipe whose disk does not read back clean releases nothing: UNVERIFIED_WIPE', async () => {
  const stage = await metalStage({ 'disk.wipe': wiped('quick', 3) });
  const { ended, node } = await runMetal(stage, 'commission');
  expect(ended.steps[2]).toMatchObject({
    use: 'disk.wipe',
    state: 'succeeded',
    result: { attested: false, reason: 'read-back' },
  });
  const error = { code: 'UNVERIFIED_WIPE', details: { reason: 'read-back' } };
  expect(ended).toMatchObject({ state: 'failed', error });
  expect(node).toMatchObject({ state: 'failed', failedFrom: 'commissioning', error });
  const deployed = { tenantId: 'root', nodeId: 'node-2', profileId: 'ubuntu-24.04-gpu-host' };
  expectWrongState(await stage.line.call('metal.deploy', deployed), 'failed');
});

test('a node that was not released stays failed, whatever else succeeds or fails, until it is wiped', async () => {
  const answers: Answers = { 'disk.wipe': wiped('secure-erase', 3) };
  const stage = await metalStage(answers);
  const { call } = stage.line;
  await follow(call, await deploy(stage.line, 'node-2'));
  const unverified = { state: 'failed', failedFrom: 'releasing', error: { code: 'UNVERIFIED_WIPE' } };
  expect((await runMetal(stage, 'undeploy')).node).toMatchObject(unverified);
  const inspected = await runMetal(stage, 'inspect');
  expect(inspected.ended.state).toBe('succeeded');
  expect(inspected.node).toMatchObject({ ...unverified, inventory });
  expect((await runMetal(stage, 'commission')).node).toMatchObject(unverified);
  const deployed = { tenantId: 'root', nodeId: 'node-2', profileId: sampleProfile.id };
  expectWrongState(await call('metal.deploy', deployed), 'failed');
  answers['disk.wipe'] = wiped('quick');
  const { node } = await runMetal(stage, 'commission');
  expect(node).toMatchObject({ state: 'ready' });
  expect(node).not.toHaveProperty('failedFrom');
});

test('a wipe that the machine did not sign is not attested', async () => {
  const stage = await metalStage({
    'disk.wipe': async (operation, site) => {
      const { jws: _, ...unsigned } = await signed(stage, operation, wiped('quick'));
      await site.report({ results: [unsigned] });
      return true;
    },
  });
  const { ended } = await runMetal(stage, 'commission');
  expect(ended.steps[2]).toMatchObject({
    state: 'succeeded',
    result: { attested: false, reason: 'signature' },
  });
  expect(ended).toMatchObject({ state: 'failed', error: { code: 'UNVERIFIED_WIPE' } });
});

test.each([
  ['tests-failed', [{ category: 'a', name: 'memory', status: 'failed' }]],
  ['tests-failed', [{ category: 'a', name: 'memory', status: 'skipped' }]],
  ['no-tests', []],
])('a diagnosis fails the node with DRIVER_ERROR, reason %s', async (reason, tests) => {
  const stage = await metalStage({ 'diag.dcgm': { level: 2, gpus: 1, tests } });
  const { ended } = await runMetal(stage, 'commission');
  expect(ended).toMatchObject({ state: 'failed', error: { code: 'DRIVER_ERROR', details: { reason } } });
  expect(stage.site.taken.map(({ action }) => action)).not.toContain('disk.wipe');
});

test('a diagnosis that the machine did not sign fails', async () => {
  const stage = await metalStage({
    'diag.dcgm': async (operation, site) => {
      const { jws: _, ...unsigned } = await signed(stage, operation, { level: 2, tests: [] });
      await site.report({ results: [unsigned] });
      return true;
    },
  });
  expect((await runMetal(stage, 'commission')).ended.error).toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'result-signature' },
  });
});

test('rescue keeps the ramdisk, unrescue starts the disk again', async () => {
  const stage = await metalStage();
  await follow(stage.line.call, await deploy(stage.line, 'node-2'));
  const rescued = await runMetal(stage, 'rescue');
  expect(rescued.ended.steps).toMatchObject([{ use: 'metal.ensureRamdisk', result: { booted: true } }]);
  expect(rescued.node).toMatchObject({ state: 'rescue' });
  const input = { tenantId: 'root', nodeId: 'node-2' };
  const { data } = await stage.line.call<{ workflowId: string }>('metal.unrescue', input);
  const waits = ({ type, text }: { type: string; text: string }) =>
    type === 'step.started' && text === 'wait.agentJoined';
  await follow(stage.line.call, data.workflowId, waits);
  expect(await nodeRecord(stage)).toMatchObject({ state: 'rescue' });
  expect(stage.site.taken.slice(-2).map(({ action, input: given }) => [action, given])).toEqual([
    ['management.setBootDevice', { device: 'disk', persistent: true }],
    ['power.setPower', { action: 'cycle' }],
  ]);
  await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId: data.workflowId });
  await follow(stage.line.call, data.workflowId);
  expect(await nodeRecord(stage)).toMatchObject({
    state: 'failed',
    failedFrom: 'rescue',
    error: { details: { reason: 'cancelled' } },
  });
});

test('a ramdisk that is connected already is not booted again', async () => {
  const stage = await metalStage();
  await follow(stage.line.call, await deploy(stage.line, 'node-2'));
  await runMetal(stage, 'rescue');
  const before = stage.site.taken.length;
  const { ended } = await runMetal(stage, 'undeploy', { mode: 'quick' });
  expect(ended).toMatchObject({
    state: 'succeeded',
    steps: [{ use: 'metal.ensureRamdisk', result: { booted: false } }, {}, {}, {}],
  });
  expect(stage.site.taken.slice(before).map(({ action }) => action)).toEqual([
    'disk.wipe',
    'power.setPower',
    'boot.cleanUp',
  ]);
});

test('retire goes on whatever fails, and revokes what the machine could join by', async () => {
  const stage = await metalStage({
    'disk.wipe': (operation, site) =>
      site.report(failedWith(operation, 'DRIVER_ERROR', 'no-crypto-erase')).then(() => true),
  });
  const { ended, node } = await runMetal(stage, 'retire');
  expect(ended.steps.map(({ use, state }) => [use, state])).toEqual([
    ['metal.ensureRamdisk', 'succeeded'],
    ['disk.wipe', 'failed'],
    ['power.setPower', 'succeeded'],
    ['metal.revokeIdentity', 'succeeded'],
    ['boot.cleanUp', 'succeeded'],
  ]);
  expect(ended.state).toBe('succeeded');
  expect(node).toMatchObject({ state: 'retired' });
});

test.each([
  ['undeploy', 'enrolled'],
  ['rescue', 'enrolled'],
  ['unrescue', 'enrolled'],
])('%s does not begin on a node that is %s', async (name, state) => {
  const stage = await metalStage();
  expectWrongState(await stage.line.call(`metal.${name}`, { tenantId: 'root', nodeId: 'node-2' }), state);
  expect(await nodeRecord(stage)).toMatchObject({ state });
});

test('the product UUID of the machine must be a spelling of the enrolled one', async () => {
  const stage = await metalStage();
  const uuids = {
    'node-3': '00000000-1111-2222-3333-444455556666',
    'node-4': '100A4D56-1111-2222-3333-444455556666',
  };
  for (const [nodeId, uuid] of Object.entries(uuids))
    await enroll(stage.line, nodeId, `52:54:00:00:00:0${nodeId.at(-1)}`, { uuid });
  expect(await inspectByHand(stage, 'node-3')).toMatchObject({
    state: 'failed',
    error: {
      code: 'DRIVER_ERROR',
      details: { reason: 'machine-identity-mismatch', what: 'uuid', found: [inventory.system.uuid] },
    },
  });
  expect(await nodeRecord(stage, 'node-3')).not.toHaveProperty('inventory');
  expect(await inspectByHand(stage, 'node-4')).toMatchObject({ state: 'succeeded' });
});

/** Inspects a machine without a BMC: it is switched on by hand once its boot entry is placed. */
async function inspectByHand(stage: Stage, nodeId: string) {
  const { call } = stage.line;
  const { data } = await call<{ workflowId: string }>('metal.inspect', { tenantId: 'root', nodeId });
  await follow(
    call,
    data.workflowId,
    ({ type, text }) => type === 'operation.succeeded' && text === 'boot.prepareRamdisk',
  );
  const machine = {};
  stage.machines.set(nodeId, machine);
  await bootMachine(nodeId, stage.site, machine);
  await follow(call, data.workflowId);
  return workflow(call, data.workflowId);
}
