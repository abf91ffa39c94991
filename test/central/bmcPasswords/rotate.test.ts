import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openSealer } from '#base/sealing.ts';
import { onHost } from '#central/host.ts';
import { openSecret } from '#central/secrets.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Operation } from '#contract/operations.ts';
import { type FakeSite, pollOnce } from '../fakeSite.ts';
import { enroll, follow, workflow } from '../line.ts';
import { nodeRecord } from '../metalStage.ts';
import { type Stage, setStage } from '../stage.ts';

const tenantId = 'root';
const shared = 'secret://bmc/factory';
type Play = (operation: Operation, site: FakeSite) => Promise<void>;

let stage: Stage;
/** What the site does with an operation, by action. */
let plays: Record<string, Play>;
let machines = 0;

const account =
  (more: object = {}): Play =>
  (operation, site) =>
    site.succeed(operation, { username: 'admin', works: 'current', ...more });
const stored: Play = (operation, site) =>
  site.succeed(operation, { secretId: (operation.input.secret as { secretId: string }).secretId });
const failed =
  (reason: string, works?: string): Play =>
  ({ operationId }, site) => {
    const error = {
      code: 'DRIVER_ERROR' as const,
      message: reason,
      details: { reason, ...(works && { works }) },
    };
    const finishedAt = new Date().toISOString();
    return site.report({ results: [{ operationId, outcome: 'failed', error, finishedAt }] });
  };

beforeAll(async () => {
  stage = await setStage(async (operation, site) => {
    const play = plays[operation.action];
    if (play === undefined) return false;
    await play(operation, site);
    return true;
  });
  await stage.line.call('secrets.set', { tenantId, ref: shared, text: 'admin:factory' });
});
afterAll(() => stage.close());
beforeEach(() => {
  plays = { 'bmc.readAccount': account(), 'bmc.setPassword': stored };
});

/** A node whose BMC is reached by the shared secret, unless `more` says otherwise. */
async function newNode(bmc: object = {}, more: object = {}): Promise<string> {
  const number = ++machines + 10;
  const nodeId = `rotates-${number}`;
  const binding = { address: `https://10.78.1.${number}`, credentialRef: shared, ...bmc };
  await enroll(stage.line, nodeId, `52:54:00:00:01:${number}`, { bmc: binding, ...more });
  const { workflowId } = await nodeRecord(stage, nodeId);
  if (workflowId !== undefined) await follow(stage.line.call, workflowId as string);
  return nodeId;
}

async function rotate(nodeId: string) {
  const { call } = stage.line;
  const { data, error } = await call<{ workflowId: string }>('nodes.rotateBmcPassword', { tenantId, nodeId });
  if (error !== undefined) return { error };
  await follow(call, data.workflowId);
  return workflow(call, data.workflowId);
}

/** What the centre keeps under this name. */
function textOf(ref: string): Promise<string | undefined> {
  return onHost(stage.line.directory, async ({ store, keys }) => {
    const sealer = openSealer(keys.atRest);
    const row = await store
      .selectFrom('tenant_secrets')
      .selectAll()
      .where('ref', '=', ref)
      .executeTakeFirst();
    return row && openSecret({ store, sealer }, row.secret_id);
  });
}

async function refs(): Promise<string[]> {
  const { data } = await stage.line.call<{ items: { ref: string }[] }>('secrets.list', { tenantId });
  return data.items.map(({ ref }) => ref);
}

async function inSpec(nodeId: string): Promise<SiteNode | undefined> {
  const { spec } = await pollOnce(stage.site, { observedGeneration: 0, taken: [], waitSeconds: 0 });
  return spec?.site?.nodes.find((node) => node.nodeId === nodeId);
}

test('a node gets a secret of its own, which its record and its drivers name; what is shared stays', async () => {
  const own = { driver: 'redfish', config: { credentialRef: 'secret://bmc/other' } };
  const nodeId = await newNode({}, { drivers: { inspect: own } });
  expect(await rotate(nodeId)).toMatchObject({
    state: 'succeeded',
    steps: [{ use: 'bmc.rotatePassword', result: { credentialRef: `secret://bmc/${nodeId}` } }],
  });
  const record = await nodeRecord(stage, nodeId);
  expect(record).toMatchObject({
    bmc: { credentialRef: `secret://bmc/${nodeId}` },
    drivers: { power: { config: { credentialRef: `secret://bmc/${nodeId}` } }, inspect: own },
  });
  expect(record).not.toHaveProperty('nextBmcSecret');
  expect(await textOf(`secret://bmc/${nodeId}`)).toMatch(/^admin:[\w-]{16}$/);
  expect(await textOf(shared)).toBe('admin:factory');
});

test('before the site is asked to, it desires the next secret beside the current one, under the id that stays', async () => {
  const nodeId = await newNode();
  let seen: { node: SiteNode | undefined; asked: unknown; set: unknown; record: object } | undefined;
  plays['bmc.setPassword'] = async (operation, site) => {
    const record = await nodeRecord(stage, nodeId);
    const { ref } = record.nextBmcSecret as { ref: string };
    const set = await stage.line.call('secrets.set', { tenantId, ref, text: 'admin:lost' });
    await stage.line.call('secrets.delete', { tenantId, ref, force: true });
    seen = { node: await inSpec(nodeId), asked: operation.input.secret, set, record };
    await stored(operation, site);
  };
  await rotate(nodeId);
  expect(seen?.node?.bmcNextSecret).toEqual(seen?.asked);
  expect(seen?.node?.bmcSecret).not.toEqual(seen?.asked);
  expect(seen?.set).toMatchObject({
    error: { code: 'CONFLICT', details: { reason: 'next-password', nodeId } },
  });
  const after = await inSpec(nodeId);
  expect(after?.bmcSecret).toEqual(seen?.asked);
  expect(after).not.toHaveProperty('bmcNextSecret');
});

test('the second rotation takes the place of the first, under the same name', async () => {
  const nodeId = await newNode();
  await rotate(nodeId);
  const first = await textOf(`secret://bmc/${nodeId}`);
  await rotate(nodeId);
  expect(await textOf(`secret://bmc/${nodeId}`)).not.toBe(first);
  expect((await refs()).filter((ref) => ref.startsWith(`secret://bmc/${nodeId}`))).toHaveLength(1);
});

test('a name that another node uses is not taken from it', async () => {
  const nodeId = await newNode();
  await rotate(nodeId);
  const other = await newNode({ credentialRef: `secret://bmc/${nodeId}` });
  const before = await textOf(`secret://bmc/${nodeId}`);
  await rotate(nodeId);
  expect((await nodeRecord(stage, nodeId)).bmc).toMatchObject({ credentialRef: `secret://bmc/${nodeId}/2` });
  expect((await nodeRecord(stage, other)).bmc).toMatchObject({ credentialRef: `secret://bmc/${nodeId}` });
  expect(await textOf(`secret://bmc/${nodeId}`)).toBe(before);
});

test('credentials in a file of the site are left to it: the BMC tells whom it takes', async () => {
  const nodeId = await newNode({ credentialRef: 'secret://a-file/of-the-site' });
  plays['bmc.readAccount'] = account({ username: 'Administrator', minLength: 20 });
  await rotate(nodeId);
  expect(await textOf(`secret://bmc/${nodeId}`)).toMatch(/^Administrator:[\w-]{20}$/);
});

test('a password that the BMC refuses is forgotten, and the node keeps what it has', async () => {
  const nodeId = await newNode();
  plays['bmc.setPassword'] = failed('password-refused', 'current');
  expect(await rotate(nodeId)).toMatchObject({
    state: 'failed',
    error: { details: { reason: 'password-refused' } },
  });
  const record = await nodeRecord(stage, nodeId);
  expect(record).toMatchObject({ bmc: { credentialRef: shared }, alarms: [] });
  expect(record).not.toHaveProperty('nextBmcSecret');
  expect((await refs()).filter((ref) => ref.includes(nodeId))).toEqual([]);
});

test('when nobody knows, both are kept and an operator is called; the next rotation finds out', async () => {
  const nodeId = await newNode();
  plays['bmc.setPassword'] = failed('password-unknown', 'unknown');
  await rotate(nodeId);
  const kept = await nodeRecord(stage, nodeId);
  const { ref } = kept.nextBmcSecret as { ref: string };
  expect(kept).toMatchObject({
    bmc: { credentialRef: shared },
    alarms: [{ reason: 'bmc-password-unknown' }],
  });
  const text = await textOf(ref);
  plays['bmc.readAccount'] = account({ works: 'next' });
  expect(await rotate(nodeId)).toMatchObject({ state: 'succeeded', steps: [{ result: { settled: true } }] });
  expect(await nodeRecord(stage, nodeId)).toMatchObject({ alarms: [] });
  expect(await textOf(`secret://bmc/${nodeId}`)).toBe(text);
});

test('one that was kept is tried again, since a slow BMC may store it yet; for another user it makes way', async () => {
  const nodeId = await newNode();
  const attempt = async () => {
    await rotate(nodeId);
    return textOf(((await nodeRecord(stage, nodeId)).nextBmcSecret as { ref: string }).ref);
  };
  plays['bmc.setPassword'] = failed('not-stored');
  const kept = await attempt();
  expect(await attempt()).toBe(kept);
  plays['bmc.readAccount'] = account({ username: 'root' });
  expect(await attempt()).toMatch(/^root:/);
  plays['bmc.setPassword'] = stored;
  await rotate(nodeId);
  expect(await textOf(`secret://bmc/${nodeId}`)).toMatch(/^root:/);
  expect((await refs()).filter((one) => one.includes(nodeId))).toHaveLength(1);
});

test('one that the BMC refuses makes way for another one', async () => {
  const nodeId = await newNode();
  const tried: unknown[] = [];
  plays['bmc.setPassword'] = async (operation, site) => {
    tried.push((operation.input.secret as { secretId: string }).secretId);
    await failed('password-refused', 'current')(operation, site);
  };
  await rotate(nodeId);
  await rotate(nodeId);
  expect(new Set(tried).size).toBe(2);
});

test('what is kept of a machine that is out of service can be deleted', async () => {
  const nodeId = await newNode();
  plays['bmc.setPassword'] = failed('unreachable');
  await rotate(nodeId);
  const { ref } = (await nodeRecord(stage, nodeId)).nextBmcSecret as { ref: string };
  const remove = () => stage.line.call('secrets.delete', { tenantId, ref });
  expect(await remove()).toMatchObject({ error: { details: { reason: 'next-password' } } });
  await onHost(stage.line.directory, ({ store }) =>
    store.updateTable('nodes').set({ state: 'retired' }).where('node_id', '=', nodeId).execute(),
  );
  expect(await remove()).toHaveProperty('data');
  expect(await nodeRecord(stage, nodeId)).not.toHaveProperty('nextBmcSecret');
});

test('what a site says of another secret than the one that is kept changes nothing', async () => {
  const nodeId = await newNode();
  plays['bmc.setPassword'] = (operation, site) => site.succeed(operation, { secretId: 'sec_of-before' });
  await rotate(nodeId);
  expect(await nodeRecord(stage, nodeId)).toMatchObject({
    bmc: { credentialRef: shared },
    nextBmcSecret: { ref: `secret://bmc/${nodeId}/next` },
  });
});

test('a change that ends after its workflow was cancelled counts all the same', async () => {
  const nodeId = await newNode();
  const { promise: begun, resolve } = Promise.withResolvers<Operation>();
  plays['bmc.setPassword'] = async (operation) => resolve(operation);
  const { call } = stage.line;
  const { data } = await call<{ workflowId: string }>('nodes.rotateBmcPassword', { tenantId, nodeId });
  const operation = await begun;
  await call('workflows.cancel', { tenantId, workflowId: data.workflowId });
  await follow(call, data.workflowId);
  expect(await nodeRecord(stage, nodeId)).toMatchObject({ bmc: { credentialRef: shared } });
  await stored(operation, stage.site);
  expect(await nodeRecord(stage, nodeId)).toMatchObject({ bmc: { credentialRef: `secret://bmc/${nodeId}` } });
});

test('at enrolment it comes first, and the node is enrolled once it is done', async () => {
  let during: unknown;
  plays['bmc.setPassword'] = async (operation, site) => {
    during = (await nodeRecord(stage, operation.nodeId)).state;
    await stored(operation, site);
  };
  const nodeId = await newNode({ changePassword: true });
  const record = await nodeRecord(stage, nodeId);
  expect([during, record.state]).toEqual(['enrolling', 'enrolled']);
  expect(record.bmc).toEqual({
    driver: 'redfish',
    address: expect.any(String),
    credentialRef: `secret://bmc/${nodeId}`,
  });
  const actions = stage.site.taken.filter((one) => one.nodeId === nodeId).map(({ action }) => action);
  expect(actions).toEqual(['bmc.readAccount', 'bmc.setPassword', 'power.getPower', 'inspect.oob']);
});

test('a node whose factory password could not be changed is not enrolled', async () => {
  plays['bmc.setPassword'] = failed('password-refused', 'current');
  const record = await nodeRecord(stage, await newNode({ changePassword: true }));
  expect(record).toMatchObject({ state: 'failed', failedFrom: 'enrolling', bmc: { credentialRef: shared } });
});

test('a BMC that several nodes have keeps its password', async () => {
  const nodeId = await newNode();
  const { address } = (await nodeRecord(stage, nodeId)).bmc as { address: string };
  const other = await newNode({ address });
  expect(await rotate(nodeId)).toMatchObject({
    error: { details: { reason: 'shared-bmc', nodeId: other } },
  });
});

test('nor does one that a node of another tenant has, and its name is not told', async () => {
  const nodeId = await newNode();
  const { address } = (await nodeRecord(stage, nodeId)).bmc as { address: string };
  const { call, siteId } = stage.line;
  await call('tenants.create', { tenantId: 'acme', name: 'Acme' });
  const theirs = { tenantId: 'acme', siteId, nodeId: 'node-of-acme', macs: ['52:54:00:00:03:01'] };
  expect(await call('metal.enroll', { ...theirs, bmc: { address, credentialRef: shared } })).toHaveProperty(
    'data',
  );
  const { error } = (await rotate(nodeId)) as { error: object };
  expect(error).toMatchObject({ details: { reason: 'shared-bmc' } });
  expect(JSON.stringify(error)).not.toContain('acme');
});

test('what has no BMC has no password, and no profile of a tenant changes one', async () => {
  const { call, siteId } = stage.line;
  const hands = { tenantId, siteId, nodeId: 'by-hand', macs: ['52:54:00:00:02:01'] };
  const password = { driver: 'manual', changePassword: true };
  expect(await call('metal.enroll', { ...hands, bmc: password })).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path: 'bmc.changePassword' } },
  });
  await call('metal.enroll', { ...hands, bmc: { driver: 'manual' } });
  expect(await rotate('by-hand')).toMatchObject({
    error: { code: 'UNSUPPORTED', details: { reason: 'no-password' } },
  });
  expect(await rotate('node-1')).toMatchObject({ error: { details: { reason: 'no-bmc' } } });
  const steps = [{ use: 'bmc.rotatePassword' }];
  const document = { id: 'rotates', version: 1, target: 'metal', steps };
  await call('profiles.create', { tenantId, document });
  const nodeId = await newNode();
  const { data } = await call<{ workflowId: string }>('metal.deploy', {
    tenantId,
    nodeId,
    profileId: 'rotates',
  });
  await follow(call, data.workflowId);
  expect(await workflow(call, data.workflowId)).toMatchObject({
    error: { code: 'FORBIDDEN', details: { reason: 'shipped-only' } },
  });
  expect(await nodeRecord(stage, nodeId)).toMatchObject({ bmc: { credentialRef: shared } });
});
