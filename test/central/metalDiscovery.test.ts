import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { bootMachine, follow, workflow } from './line.ts';
import { bmc, inventory, metalStage, nodeRecord } from './metalStage.ts';
import type { Stage } from './stage.ts';

const { uuid } = inventory.system;
/** The same UUID with its first three fields in the other byte order (case 26 of the field). */
const otherOrder = '100A4D56-1111-2222-3333-444455556666';
const mac = '52:54:00:00:00:03';

/** Enrolls `node-3` by its UUID alone, in a pool of this policy. */
async function enrollByUuid({ line }: Stage, policy: object = {}): Promise<void> {
  const { call, siteId } = line;
  const pool = { tenantId: 'root', siteId, policy: { ramdisk: { x86_64: 'ramdisk@1' }, ...policy } };
  const { data } = await call<{ poolId: string }>('pools.create', pool);
  const machine = { tenantId: 'root', siteId, poolId: data.poolId, nodeId: 'node-3', uuid, bmc };
  const node = (await call<{ workflowId: string }>('metal.enroll', machine)).data;
  await follow(call, node.workflowId);
}

/** The site lists a machine that booted over the network and that nobody knows by its address. */
function discovered({ site }: Stage, found: { mac: string; uuid: string }): Promise<void> {
  const event = { eventId: randomUUID(), at: new Date().toISOString(), type: 'machine.discovered' as const };
  return site.report({ events: [{ ...event, ...found }] });
}

/** A machine that has no address yet boots with no entry; once it has one, it boots its ramdisk. */
async function stageWithUnknown(tells = inventory): Promise<Stage> {
  const stage: Stage = await metalStage({
    'inventory.refresh': { sections: tells },
    'power.setPower': async (operation, site) => {
      if (operation.nodeId !== 'node-3') return false;
      await site.succeed(operation);
      if (site.entryOf('node-3') === '') await discovered(stage, { mac, uuid: otherOrder });
      else {
        const machine = stage.machines.get('node-3') ?? {};
        stage.machines.set('node-3', machine);
        await bootMachine('node-3', site, machine);
      }
      return true;
    },
  });
  return stage;
}

async function inspect({ line }: Stage): Promise<string> {
  const input = { tenantId: 'root', nodeId: 'node-3' };
  return (await line.call<{ workflowId: string }>('metal.inspect', input)).data.workflowId;
}

const confirm = ({ line }: Stage, address: string) =>
  line.call('metal.confirmMac', { tenantId: 'root', nodeId: 'node-3', mac: address });

test('a machine known by its product UUID alone is booted with no entry, and its proposed MAC is waited for until confirmed', async () => {
  const stage = await stageWithUnknown({ ...inventory, nics: [{ name: 'eth0', mac, linkUp: true }] });
  await enrollByUuid(stage);
  expect(await confirm(stage, mac)).toMatchObject({
    status: 404,
    error: { details: { path: 'mac', proposed: [] } },
  });
  const workflowId = await inspect(stage);
  await expect
    .poll(async () => (await nodeRecord(stage, 'node-3')).proposedMacs, { timeout: 5000 })
    .toEqual([mac]);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'running',
    steps: [{ state: 'running' }, {}, {}],
  });
  expect(stage.site.taken.some(({ action }) => action === 'boot.prepareRamdisk')).toBe(false);
  expect(await confirm(stage, 'nonsense')).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path: 'mac' } },
  });
  expect((await confirm(stage, mac.toUpperCase())).data).toMatchObject({ macs: [mac], proposedMacs: [] });
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
});

test('a pool that trusts its provisioning network binds the proposed MAC at once', async () => {
  const stage = await stageWithUnknown({ ...inventory, nics: [{ name: 'eth0', mac, linkUp: true }] });
  await enrollByUuid(stage, { trustProvisioningNetwork: true });
  const workflowId = await inspect(stage);
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
  expect(await nodeRecord(stage, 'node-3')).toMatchObject({ macs: [mac] });
});

test('a machine whose NICs lack the MAC that discovery bound is another machine', async () => {
  const stage = await stageWithUnknown();
  await enrollByUuid(stage, { trustProvisioningNetwork: true });
  const workflowId = await inspect(stage);
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: {
      code: 'DRIVER_ERROR',
      details: { reason: 'machine-identity-mismatch', what: 'mac', expected: mac },
    },
  });
});

test('of two machines that tell one UUID, even a trusting pool binds none', async () => {
  const stage = await stageWithUnknown();
  await discovered(stage, { mac: '52:54:00:00:00:0a', uuid });
  await discovered(stage, { mac: '52:54:00:00:00:0b', uuid: otherOrder });
  await enrollByUuid(stage, { trustProvisioningNetwork: true });
  const workflowId = await inspect(stage);
  await follow(stage.line.call, workflowId, ({ type }) => type === 'step.started');
  expect(await nodeRecord(stage, 'node-3')).toMatchObject({
    macs: [],
    proposedMacs: ['52:54:00:00:00:0a', '52:54:00:00:00:0b'],
  });
  await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId });
  await follow(stage.line.call, workflowId);
});
