import { afterAll, beforeAll, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { newId } from '#contract/ids.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Operation } from '#contract/operations.ts';
import { pollOnce } from './fakeSite.ts';
import { enroll, follow } from './line.ts';
import { nodeRecord } from './metalStage.ts';
import { type Stage, setStage } from './stage.ts';

const tenantId = 'root';
const factory = 'secret://bmc/set-bmc';
/** The machine whose power is not switched before the test says so. */
let held: PromiseWithResolvers<void> | undefined;
let stage: Stage;
let machines = 0;

beforeAll(async () => {
  stage = await setStage(
    async (operation, site) => {
      if (operation.action === 'power.setPower') await held?.promise;
      if (operation.action === 'bmc.readAccount')
        await site.succeed(operation, { username: 'admin', works: 'current' });
      else if (operation.action === 'bmc.setPassword') await site.report(passwordLost(operation));
      else return false;
      return true;
    },
    undefined,
    { hardwareProfiles: { grub: { drivers: { power: 'redfish', boot: 'grub' } } } },
  );
  await stage.line.call('secrets.set', { tenantId, ref: factory, text: 'admin:factory' });
});
afterAll(() => stage.close());

function passwordLost({ operationId }: Operation) {
  const details = { reason: 'password-unknown', works: 'unknown' };
  const error = { code: 'DRIVER_ERROR' as const, message: 'nobody knows', details };
  return {
    results: [{ operationId, outcome: 'failed' as const, error, finishedAt: new Date().toISOString() }],
  };
}

/** A node with a BMC of its own, whose enrolment is over. */
async function newNode(more: object = {}) {
  const number = ++machines + 10;
  const nodeId = `set-bmc-${number}`;
  const bmc = { address: `https://10.78.2.${number}`, credentialRef: factory, oldTls: true };
  await enroll(stage.line, nodeId, `52:54:00:00:02:${number}`, { bmc, ...more });
  const { workflowId } = await nodeRecord(stage, nodeId);
  await follow(stage.line.call, workflowId as string);
  const other = { address: `https://10.79.2.${number}`, credentialRef: factory };
  return { nodeId, bmc, other };
}

const setBmc = (nodeId: string, bmc: object | null, more: object = {}) =>
  stage.line.call('metal.setBmc', { tenantId, nodeId, bmc, ...more });

function tellHealth(nodeId: string, health: string, at = new Date()): Promise<unknown> {
  const event = { eventId: newId('ev'), at: at.toISOString(), type: 'bmc.health', nodeId, text: health };
  return stage.site.report({ events: [{ ...event, health: { health, faults: [] } }] as never });
}

async function specNow(observedGeneration = 0, waitSeconds = 0) {
  const { spec } = await pollOnce(stage.site, { observedGeneration, taken: [], waitSeconds });
  const of = (nodeId: string): SiteNode | undefined =>
    spec?.site?.nodes.find((node) => node.nodeId === nodeId);
  return { generation: spec?.generation ?? 0, of };
}

test('the whole binding is another from now on, and the site is told at once', async () => {
  const { nodeId, other } = await newNode();
  await tellHealth(nodeId, 'Critical', new Date(Date.now() + 60_000));
  expect(await nodeRecord(stage, nodeId)).toMatchObject({ health: 'Critical' });
  const { generation } = await specNow();
  const waiting = specNow(generation, 20);
  const { data } = await setBmc(nodeId, { ...other, console: 'sol' });
  const bmc = { driver: 'redfish', ...other, console: 'sol' };
  expect(data.bmc).toEqual(bmc);
  expect((await waiting).of(nodeId)?.bmc).toEqual(bmc);
  expect(data).not.toHaveProperty('health');
  const { driver, ...config } = bmc;
  expect(data.drivers).toEqual(
    Object.fromEntries(
      ['power', 'management', 'virtual-media'].map((concern) => [concern, { driver, config }]),
    ),
  );
  await tellHealth(nodeId, 'OK');
  expect(await nodeRecord(stage, nodeId)).toMatchObject({ health: 'OK' });
  const events = await stage.line.call<{ items: object[] }>('nodes.events', { tenantId, nodeId });
  expect(events.data.items).toContainEqual(
    expect.objectContaining({
      type: 'bmc.set',
      text: `the node's BMC is redfish at ${other.address}, by ${factory}`,
      cause: expect.stringMatching(/^token /),
    }),
  );
});

test('the same binding again, or another name of its credentials, leaves what its BMC has told', async () => {
  const { nodeId, bmc } = await newNode();
  await tellHealth(nodeId, 'OK');
  expect((await setBmc(nodeId, { ...bmc, credentialRef: 'secret://bmc/file' })).data).toMatchObject({
    health: 'OK',
    bmc: { credentialRef: 'secret://bmc/file' },
  });
});

test('null takes the BMC away, and what it still says is not believed', async () => {
  const { nodeId } = await newNode();
  const { data } = await setBmc(nodeId, null);
  expect(data).not.toHaveProperty('bmc');
  expect(data.drivers).toEqual({});
  await tellHealth(nodeId, 'OK');
  expect(await nodeRecord(stage, nodeId)).not.toHaveProperty('health');
  expect((await specNow()).of(nodeId)).not.toHaveProperty('bmcSecret');
});

test("the hardware profile, and drivers of the node's own, stay above another BMC", async () => {
  const drivers = {
    management: { driver: 'redfish', config: { slow: true } },
    inspect: { driver: 'redfish', config: { credentialRef: 'secret://bmc/other' } },
  };
  const { nodeId, other } = await newNode({ hardwareProfile: 'grub', drivers });
  const config = { address: other.address, credentialRef: factory };
  expect((await setBmc(nodeId, other)).data.drivers).toEqual({
    power: { driver: 'redfish', config },
    management: { driver: 'redfish', config: { ...config, slow: true } },
    'virtual-media': { driver: 'redfish', config },
    boot: { driver: 'grub' },
    inspect: drivers.inspect,
  });
});

test('the password of before goes to another address only where the call names it', async () => {
  const { nodeId, bmc, other } = await newNode();
  const { address } = other;
  expect(await setBmc(nodeId, { address })).toMatchObject({
    status: 400,
    error: { code: 'INVALID_INPUT', details: { path: 'bmc.credentialRef' } },
  });
  const bmcCredentials = { username: 'admin', password: 'another' };
  expect(await setBmc(nodeId, other, { bmcCredentials })).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { path: 'bmc.credentialRef', ref: factory } },
  });
  expect(await setBmc(nodeId, null, { bmcCredentials })).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path: 'bmc' } },
  });
  expect(await nodeRecord(stage, nodeId)).toMatchObject({ bmc: { address: bmc.address } });
  const credentialRef = `secret://bmc/new/${nodeId}`;
  const { error } = await setBmc(nodeId, { address, credentialRef }, { bmcCredentials });
  expect(error).toBeUndefined();
  const listed = await stage.line.call<{ items: { ref: string; secretId: string }[] }>('secrets.list', {
    tenantId,
  });
  const secretId = listed.data.items.find(({ ref }) => ref === credentialRef)?.secretId;
  expect((await specNow()).of(nodeId)?.bmcSecret).toEqual({ secretId, version: 1 });
});

test('who may enroll on one node alone cannot have credentials of the tenant sent elsewhere', async () => {
  const { nodeId, other } = await newNode();
  const as = async (grant: string) => {
    const call = await stage.tokenFor(grant);
    return call('metal.setBmc', { tenantId, nodeId, bmc: other });
  };
  for (const grant of [
    `compute:metal:enroll@compute-node:${nodeId}`,
    'compute:nodes:manage@compute-tenant:root',
    'compute:bmc:rotate@compute-tenant:root',
  ])
    expect(await as(grant)).toMatchObject({ status: 403, error: { code: 'FORBIDDEN' } });
  expect(await as('compute:metal:enroll@compute-tenant:root')).toMatchObject({ status: 200 });
});

test('not while a workflow runs on the node', async () => {
  const { nodeId, bmc, other } = await newNode();
  held = Promise.withResolvers();
  const power = { tenantId, nodeId, action: 'off' };
  const { workflowId } = (await stage.line.call<{ workflowId: string }>('metal.power', power)).data;
  expect(await setBmc(nodeId, other)).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { reason: 'workflow-running' } },
  });
  held.resolve();
  await follow(stage.line.call, workflowId);
  expect(await nodeRecord(stage, nodeId)).toHaveProperty('bmc.address', bmc.address);
  const types = (await stage.line.call<{ items: { type: string }[] }>('nodes.events', { tenantId, nodeId }))
    .data.items;
  expect(types.filter(({ type }) => type === 'bmc.set')).toEqual([]);
  expect(await setBmc(nodeId, other)).toMatchObject({ status: 200 });
});

test.each(['power', 'inspect'])(
  'of a %s that begins at the same time, the one waits for the other',
  async (method) => {
    const { nodeId, bmc, other } = await newNode();
    const input = { tenantId, nodeId, ...(method === 'power' && { action: 'off' }) };
    const [changed, begun] = await Promise.all([
      setBmc(nodeId, other),
      stage.line.call<{ workflowId: string }>(`metal.${method}`, input),
    ]);
    expect(begun.error).toBeUndefined();
    expect([200, 409]).toContain(changed.status);
    const { address } = changed.status === 200 ? other : bmc;
    expect(await nodeRecord(stage, nodeId)).toMatchObject({
      bmc: { address },
      drivers: { power: { config: { address } } },
    });
    await stage.line.call('workflows.cancel', { tenantId, workflowId: begun.data.workflowId });
    await follow(stage.line.call, begun.data.workflowId);
  },
);

test('not in the middle of a change of its password, unless what the BMC may have is to be forgotten', async () => {
  const { nodeId, other } = await newNode();
  const { data } = await stage.line.call<{ workflowId: string }>('nodes.rotateBmcPassword', {
    tenantId,
    nodeId,
  });
  await follow(stage.line.call, data.workflowId);
  expect(await setBmc(nodeId, other)).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { reason: 'next-password', nodeId } },
  });
  const { data: forced } = await setBmc(nodeId, other, { force: true });
  expect(forced).toMatchObject({ bmc: { address: other.address, credentialRef: factory }, alarms: [] });
  expect(forced).not.toHaveProperty('nextBmcSecret');
  expect((await specNow()).of(nodeId)).not.toHaveProperty('bmcNextSecret');
  const names = await stage.line.call<{ items: { ref: string }[] }>('secrets.list', { tenantId });
  expect(names.data.items.map(({ ref }) => ref)).not.toContain(`secret://bmc/${nodeId}/next`);
});

test('the password that a new BMC came with is changed, where that is asked for', async () => {
  const { nodeId, other } = await newNode();
  const { data } = await setBmc(nodeId, { ...other, changePassword: true });
  expect(data.bmc).not.toHaveProperty('changePassword');
  const workflowId = data.workflowId as string;
  const workflow = await stage.line.call('workflows.get', { tenantId, workflowId });
  expect(workflow.data).toMatchObject({ steps: [{ use: 'bmc.rotatePassword' }] });
  await follow(stage.line.call, workflowId);
});

test('another tenant’s node is not found, and every call is on record', async () => {
  const { nodeId, other } = await newNode();
  await stage.line.call('tenants.create', { tenantId: 'thief' });
  const call = { tenantId: 'thief', nodeId, bmc: other };
  expect(await stage.line.call('metal.setBmc', call)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  const records = await onHost(stage.line.directory, ({ store }) =>
    store
      .selectFrom('audit')
      .selectAll()
      .where('method', '=', 'metal.setBmc')
      .where('subject', 'like', `%${nodeId}%`)
      .execute(),
  );
  expect(records).toMatchObject([{ outcome: 'NOT_FOUND' }]);
});
