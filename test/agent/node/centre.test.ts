import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startNode } from '#agent/node/node.ts';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { revokeAgent } from '#central/join/revoke.ts';
import { type AgentClient, agentClient, joinAs, pollOnce } from '../../central/fakeSite.ts';
import { deploy, type EventView, enroll, follow, osDigest, workflow } from '../../central/line.ts';
import { metalStage, nodeRecord } from '../../central/metalStage.ts';
import { sampleProfile } from '../../central/sampleProfile.ts';
import type { Stage } from '../../central/stage.ts';
import { joinNode } from './joinNode.ts';

const nodeId = 'node-2';
const uuid = '564d0a10-1111-2222-3333-444455556666';
const passed = { category: 'Deployment', name: 'software', status: 'passed' };
/** For whatever a busy machine is slow with. */
const patient = { timeout: 20_000 };

/** Programs and files of a machine: a `dcgmi`, and what its kernel tells. */
let machine: string;
beforeAll(async () => {
  machine = await mkdtemp(path.join(tmpdir(), 'railhead-machine-'));
  await mkdir(path.join(machine, 'sys/class/dmi/id'), { recursive: true });
  await mkdir(path.join(machine, 'sys/block'));
  await writeFile(path.join(machine, 'sys/class/dmi/id/product_uuid'), uuid);
  const tests = [{ name: 'software', results: [{ status: 'Pass' }] }];
  const report = { 'DCGM Diagnostic': { test_categories: [{ category: 'Deployment', tests }] } };
  await writeFile(path.join(machine, 'report'), JSON.stringify(report));
  // The first run of a machine with a file `hang` does not end.
  const script = `#!/bin/sh\necho run >>${machine}/calls\nif rm ${machine}/hang 2>/dev/null; then exec sleep 60; fi\ncat ${machine}/report\n`;
  await writeFile(path.join(machine, 'dcgmi'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${machine}:${process.env.PATH}`);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(machine, { recursive: true });
});

async function joinedState(stage: Stage): Promise<string> {
  const state = await mkdtemp(path.join(tmpdir(), 'railhead-node-'));
  onTestFinished(() => rm(state, { recursive: true }));
  await joinNode(stage.line, nodeId, state);
  return state;
}

/** The agent of the OS on `node-2`. */
async function startOs(stateDirectory: string) {
  const config = { stateDirectory, logLevel: 'silent', central: {} } as const;
  const agent = await startNode(config, machine);
  onTestFinished(async () => agent.close());
  return agent;
}

async function begin(stage: Stage, steps: object[]): Promise<string> {
  const document = { ...sampleProfile, id: 'on-node', userData: undefined, steps, cleanup: [] };
  const created = await stage.line.call('profiles.create', { tenantId: 'root', document });
  if (created.error !== undefined) throw new Error(created.error.message);
  return deploy(stage.line, nodeId, { profileId: 'on-node' });
}

async function run(stage: Stage, steps: object[]) {
  const workflowId = await begin(stage, steps);
  const events = await follow(stage.line.call, workflowId);
  return { ...(await workflow(stage.line.call, workflowId)), events };
}

const relayed = ({ site }: Stage) =>
  site.taken.map(({ action }) => action).filter((action) => /^(inventory|diag)/.test(action));
const begun = (use: string) => (event: EventView) => event.type === 'step.started' && event.text === use;

test('inventory.refresh and diag.dcgm run on the OS, which signs what it tells', async () => {
  const stage = await metalStage();
  await startOs(await joinedState(stage));
  const ended = await run(stage, [
    { use: 'inventory.refresh', on: 'node' },
    { use: 'diag.dcgm', on: 'node', with: { level: 3 } },
  ]);
  expect(ended).toMatchObject({
    state: 'succeeded',
    steps: [
      { result: { sections: { system: { uuid } } } },
      { result: { level: 3, tests: [passed] }, progress: { phase: 'testing the GPUs at level 3' } },
    ],
  });
  const cause = `node ${nodeId}`;
  expect(ended.events).toContainEqual(expect.objectContaining({ type: 'operation.progress', cause }));
  expect(ended.events).toContainEqual(expect.objectContaining({ type: 'operation.succeeded', cause }));
  expect(relayed(stage)).toEqual([]);
  expect(await nodeRecord(stage)).toHaveProperty('inventoryAt');
});

test('a step without on runs on whichever agent of the machine is connected', async () => {
  const stage = await metalStage();
  const os = await startOs(await joinedState(stage));
  const onOs = await run(stage, [{ use: 'diag.dcgm', with: { level: 4 } }]);
  expect(onOs.steps).toMatchObject([{ result: { level: 4 } }]);
  expect(relayed(stage)).toEqual([]);
  await os.close();
  const { call } = stage.line;
  const steps = [{ use: 'metal.ensureRamdisk' }, { use: 'diag.dcgm' }];
  const document = { ...sampleProfile, id: 'in-ramdisk', userData: undefined, steps, cleanup: [] };
  await call('profiles.create', { tenantId: 'root', document });
  const workflowId = await deploy(stage.line, nodeId, { profileId: 'in-ramdisk' });
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({ state: 'succeeded' });
  expect(relayed(stage)).toEqual(['diag.dcgm']);
});

test('an OS on another machine than the one enrolled is found out', async () => {
  const stage = await metalStage();
  await onHost(stage.line.directory, ({ store }) =>
    store
      .updateTable('nodes')
      .set({ uuid: '11111111-2222-3333-4444-555566667777' })
      .where('node_id', '=', nodeId)
      .execute(),
  );
  await startOs(await joinedState(stage));
  expect(await run(stage, [{ use: 'inventory.refresh', on: 'node' }])).toMatchObject({
    state: 'failed',
    error: {
      code: 'DRIVER_ERROR',
      details: { reason: 'machine-identity-mismatch', what: 'uuid', found: [uuid] },
    },
  });
  expect(await nodeRecord(stage)).not.toHaveProperty('inventoryAt');
});

test('an agent that is killed in the middle of a diagnosis says so, and the next try succeeds', async () => {
  const stage = await metalStage();
  const state = await joinedState(stage);
  await writeFile(path.join(state, 'config.toml'), `stateDirectory = "${state}"\nlogLevel = "silent"\n`);
  await writeFile(path.join(machine, 'hang'), '');
  await writeFile(path.join(machine, 'calls'), '');
  const calls = async () => (await readFile(path.join(machine, 'calls'), 'utf8')).split('\n').length - 1;
  const first = bcdNode(state);
  const workflowId = await begin(stage, [{ use: 'diag.dcgm', on: 'node', retries: 1 }]);
  await expect.poll(calls, patient).toBe(1);
  first.kill('SIGKILL');
  await once(first, 'exit');
  bcdNode(state);
  const events = await follow(stage.line.call, workflowId);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'operation.unknown',
      data: expect.objectContaining({
        error: expect.objectContaining({ details: expect.objectContaining({ reason: 'interrupted' }) }),
      }),
    }),
  );
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'succeeded',
    steps: [{ attempt: 2, result: { tests: [passed] } }],
  });
  expect(await calls()).toBe(2);
});

/** `bcd node`, as systemd starts it. */
function bcdNode(state: string): ChildProcess {
  const args = ['agent/bcd.ts', 'node', '--config', path.join(state, 'config.toml')];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('cancelling the workflow ends a diagnosis that runs', async () => {
  const stage = await metalStage();
  await startOs(await joinedState(stage));
  await writeFile(path.join(machine, 'hang'), '');
  const workflowId = await begin(stage, [{ use: 'diag.dcgm', on: 'node' }]);
  const { call } = stage.line;
  await follow(call, workflowId, ({ type }) => type === 'operation.progress');
  // Its progress may be told before it is told to be taken; what nobody took ends without a word.
  await expect
    .poll(async () => (await openOperations(stage)).map(({ taken_at }) => taken_at), patient)
    .toEqual([expect.any(String)]);
  await call('workflows.cancel', { tenantId: 'root', workflowId });
  const events = await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({ state: 'cancelled' });
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'operation.failed', text: 'diag.dcgm: cancelled by the centre' }),
  );
});

test.each([
  [
    'node-revoked',
    (stage: Stage) =>
      onHost(stage.line.directory, ({ store }) =>
        revokeAgent(store, { role: 'node', id: nodeId }, { why: 'lost', by: 'host' }),
      ),
  ],
  ['node-replaced', joinedState],
] as const)('what waits for an agent that is no more ends: %s', async (reason, act) => {
  const stage = await metalStage();
  await joinedState(stage);
  const workflowId = await begin(stage, [{ use: 'diag.dcgm', on: 'node' }]);
  await follow(stage.line.call, workflowId, begun('diag.dcgm'));
  await expect.poll(() => openOperations(stage), patient).toHaveLength(1);
  await act(stage);
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason } },
  });
});

const openOperations = ({ line }: Stage) =>
  onHost(line.directory, ({ store }) =>
    store
      .selectFrom('operations')
      .select(['operation_id', 'taken_at'])
      .where('outcome', 'is', null)
      .execute(),
  );

test("what is a site's to tell counts for nothing when a node tells it", async () => {
  const stage = await metalStage();
  const { line } = stage;
  const node = await nodeClient(stage, nodeId);
  const at = new Date().toISOString();
  const alarm = { eventId: 'ev_1', at, nodeId, type: 'machine.alarm', reason: 'contested', text: 'two' };
  const image = { digest: osDigest, ref: 'demo-os@1', state: 'ready' };
  const report = {
    protocol: 1,
    observedGeneration: 0,
    results: [],
    progress: [],
    events: [alarm],
    images: [image],
  };
  expect((await node.post('/v1/agent/report', report)).status).toBe(200);
  expect(await nodeRecord(stage)).toMatchObject({ alarms: [] });
  type Host = Parameters<Parameters<typeof onHost>[1]>[0];
  const located = ({ store }: Host) => store.selectFrom('image_locations').select('state').execute();
  expect(await onHost(line.directory, located)).not.toContainEqual({ state: 'ready' });
});

/** A client in the name of a node's OS, which joins for it. */
async function nodeClient({ line }: Stage, id: string): Promise<AgentClient> {
  const { token } = await onHost(line.directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId: id, validMs: 60_000 }),
  );
  const credentials = await joinAs(line.agentsUrl, 'node', id, token);
  const client = agentClient(line.agentsUrl, credentials.wellKnown.servingCa, credentials);
  onTestFinished(() => client.close());
  return client;
}

test('a diagnosis counts only as the node signed it, and only for the node that was asked', async () => {
  const stage = await metalStage();
  const { line, site } = stage;
  await enroll(line, 'node-3', '52:54:00:00:00:03');
  const [asked, other] = [await nodeClient(stage, nodeId), await nodeClient(stage, 'node-3')];
  const workflowId = await begin(stage, [{ use: 'diag.dcgm', on: 'node' }]);
  await follow(line.call, workflowId, begun('diag.dcgm'));
  const waiting = async (at: typeof asked) =>
    (await pollOnce({ client: at }, { observedGeneration: 9, taken: [], waitSeconds: 0 })).operations;
  await expect.poll(() => waiting(asked), patient).toHaveLength(1);
  expect(await waiting(other)).toEqual([]);
  const [operation] = await waiting(asked);
  const result = {
    operationId: operation?.operationId ?? '',
    outcome: 'succeeded' as const,
    result: { level: 1, tests: [passed] },
    finishedAt: new Date().toISOString(),
  };
  const report = { protocol: 1, observedGeneration: 0, results: [result], progress: [], events: [] };
  expect((await other.post('/v1/agent/report', report)).status).toBe(200);
  await site.report({ results: [result] });
  expect(await openOperations(stage)).toHaveLength(1);
  expect((await asked.post('/v1/agent/report', report)).status).toBe(200);
  await follow(line.call, workflowId);
  expect(await workflow(line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'result-signature', path: 'jws' } },
  });
});
