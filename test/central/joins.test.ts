import { generateKeyPairSync } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { signDocument } from '#base/jws.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import { bootRamdisk, type FakeSite } from './fakeSite.ts';
import { bootMachine, deploy, follow, signedSuccess, workflow } from './line.ts';
import { instead, type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const mac = '52:54:00:00:00:01';
type Joined = SiteEvent & { type: 'agent.joined' };
type Changed = (event: Joined, site: FakeSite) => Partial<Joined> | Promise<Partial<Joined>>;

const alarmsOf = async (nodeId: string) => {
  const node = await stage.line.call<{ alarms: { reason: string; text: string }[] }>('nodes.get', {
    tenantId: 'root',
    nodeId,
  });
  const sites = await stage.line.call<{ items: { alarms: unknown[] }[] }>('sites.list');
  return { node: node.data.alarms, site: sites.data.items[0]?.alarms };
};

const forger = generateKeyPairSync('ed25519').privateKey;
const unsigned = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());

test.each<[string, string, Changed]>([
  ['without a boot entry', 'no-entry', () => ({ entry: '' })],
  [
    'under a boot entry that the centre did not sign',
    'no-entry',
    async ({ entry }) => ({ entry: await signDocument('railhead-boot-entry', unsigned(entry), forger) }),
  ],
  ['after its boot entry ended', 'no-entry', () => ({ at: '2100-01-01T00:00:00.000Z' })],
  ['as another interface', 'other-mac', () => ({ mac: '52:54:00:00:00:09' })],
  ['with a higher trust level', 'trust-level', () => ({ trust: 'own-key' })],
  ['with another version', 'proof', ({ join }) => ({ join: { ...join, version: '9' } })],
  [
    'by a machine that the entry does not name',
    'other-mac',
    async (_, site) => {
      const other = await bootRamdisk('node-1', '52:54:00:00:00:09', site.entryOf('node-1')).joinEvent();
      return { ...(other as Joined), mac: '52:54:00:00:00:09' };
    },
  ],
])('a join that a site reports %s is refused, and an operator is told', async (_, reason, change) => {
  stage = await setStage(
    instead('power.setPower', async (operation, site) => {
      await site.succeed(operation);
      const event = (await bootRamdisk('node-1', mac, site.entryOf('node-1')).joinEvent()) as Joined;
      await site.report({ events: [{ ...event, ...(await change(event, site)) }] });
      await bootMachine('node-1', site, stage.machines.get('node-1') ?? {});
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  const events = await follow(stage.line.call, workflowId, ({ type }) => type === 'agent.joined');
  const refused = events.filter(({ type }) => type === 'agent.refused');
  expect(refused).toMatchObject([{ data: { reason } }]);
  const alarms = await alarmsOf('node-1');
  expect(alarms.node).toMatchObject([{ reason: 'join-refused', text: refused[0]?.text }]);
  expect(alarms.site).toEqual(alarms.node);
});

test('a second agent of a boot that has joined is refused, and the first stays', async () => {
  stage = await setStage(
    instead('deploy.image', async (_, site) => {
      const first = stage.machines.get('node-1')?.ramdisk;
      const second = bootRamdisk('node-1', mac, site.entryOf('node-1'), first?.bootId);
      await site.report({ events: [await second.joinEvent()] });
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  const events = await follow(stage.line.call, workflowId, ({ type }) => type === 'agent.refused');
  expect(events.at(-1)).toMatchObject({ data: { reason: 'contested' } });
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'running' });
});

test('a contested machine ends its workflow, and is an alarm on node and site until an operator has seen it', async () => {
  stage = await setStage(
    instead('deploy.image', async (_, site) => {
      const alarm = { type: 'machine.alarm', reason: 'contested', text: 'two machines' } as const;
      const at = new Date().toISOString();
      await site.report({ events: [{ ...alarm, eventId: 'ev_alarm', at, nodeId: 'node-1', mac }] });
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'FORBIDDEN', details: { reason: 'contested' } },
  });
  const { node, site } = await alarmsOf('node-1');
  expect(node).toMatchObject([{ reason: 'contested', text: 'two machines', nodeId: 'node-1', mac }]);
  expect(site).toEqual(node);
  const seen = await stage.line.call('nodes.acknowledge', { tenantId: 'root', nodeId: 'node-1' });
  expect(seen.data).toEqual({ acknowledged: 1 });
  expect(await alarmsOf('node-1')).toEqual({ node: [], site: [] });
});

test('a machine of too low a trust level gets neither operation nor secret, and the workflow says why', async () => {
  stage = await setStage();
  const { call, siteId } = stage.line;
  const policy = { ramdisk: { x86_64: 'ramdisk@1' }, trust: 'own-key' };
  const { data: pool } = await call<{ poolId: string }>('pools.create', { tenantId: 'root', siteId, policy });
  const node = { tenantId: 'root', siteId, poolId: pool.poolId, nodeId: 'node-2' };
  await call('metal.enroll', { ...node, macs: ['52:54:00:00:00:02'] });
  const workflowId = await deploy(stage.line, 'node-2');
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({
    state: 'failed',
    error: {
      code: 'FORBIDDEN',
      details: { reason: 'trust-level', required: 'own-key', found: 'network' },
    },
  });
  expect(stage.site.taken.filter(({ target }) => target === 'ramdisk')).toEqual([]);
  const { data } = await call('nodes.get', { tenantId: 'root', nodeId: 'node-2' });
  expect(data).toMatchObject({ ramdisk: { trust: 'network' } });
});

test('a signed failure that the site turned into its own words is no result of the machine', async () => {
  stage = await setStage(
    instead('deploy.image', async (operation, site) => {
      const success = await signedSuccess(operation, stage.machines.get('node-1') ?? {}, {});
      await site.report({ results: [{ ...success, outcome: 'failed' }] });
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    error: { details: { reason: 'result-signature', path: 'outcome' } },
  });
  expect((await alarmsOf('node-1')).node).toMatchObject([{ reason: 'result-signature' }]);
});

test('an operation is addressed to the keys of the join that it is for', async () => {
  stage = await setStage();
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  const addressees = stage.site.taken
    .filter(({ target }) => target === 'ramdisk')
    .map(({ machine }) => machine);
  expect(addressees).toEqual(Array(2).fill(stage.machines.get('node-1')?.ramdisk?.thumbprint));
});
