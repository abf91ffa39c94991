import { afterEach, expect, test } from 'vitest';
import type { FakeSite } from './fakeSite.ts';
import {
  bootMachine,
  deploy,
  type EventView,
  enroll,
  follow,
  osDigest,
  signedSuccess,
  workflow,
} from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { failedWith, instead, type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

test('the sample profile runs from user data to the joined OS', async () => {
  stage = await setStage();
  const workflowId = await deploy(stage.line, 'node-1', { disk: { serial: 'disk-1' } });
  const events = await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'succeeded',
    steps: [...sampleProfile.steps, ...sampleProfile.cleanup].map(({ use }) => ({
      use,
      state: 'succeeded',
      attempt: 1,
    })),
  });
  expect(stage.site.taken.map(({ action }) => action)).toEqual([
    'boot.prepareRamdisk',
    'management.setBootDevice',
    'power.setPower',
    'deploy.image',
    'management.setBootDevice',
    'boot.kexec',
    'boot.cleanUp',
  ]);
  expect(stage.machines.get('node-1')?.deployed).toMatchObject({
    ref: 'demo-os@1',
    digest: osDigest,
    sizeBytes: 1000,
    format: 'raw',
    compression: 'zstd',
    sources: ['https://images.example.com/demo-os.raw.zst'],
    disk: { serial: 'disk-1' },
    userData: {
      kind: 'cloud-init',
      ref: expect.stringMatching(/^secret:\/\/user-data\/wf_/),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
  expect(stage.machines.get('node-1')?.document).toMatch(/^node: node-1\ntoken: rhj_/);
  expect(JSON.stringify(stage.site.taken)).not.toContain('rhj_');
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['workflow.created', 'agent.joined', 'operation.progress', 'workflow.succeeded']),
  );
  const { data: node } = await stage.line.call('nodes.get', { tenantId: 'root', nodeId: 'node-1' });
  expect(node).toMatchObject({ state: 'active', role: 'host', workflowId });
});

test('a second workflow on a busy node is refused', async () => {
  stage = await setStage(instead('deploy.image', () => {}));
  const workflowId = await deploy(stage.line, 'node-1');
  const input = { tenantId: 'root', nodeId: 'node-1', profileId: sampleProfile.id };
  expect(await stage.line.call('metal.deploy', input)).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { reason: 'workflow-running' } },
  });
  await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId });
  await follow(stage.line.call, workflowId);
});

test('two machines are deployed at once', async () => {
  stage = await setStage();
  await enroll(stage.line, 'node-2', '52:54:00:00:00:02');
  const workflowIds = [await deploy(stage.line, 'node-1'), await deploy(stage.line, 'node-2')];
  await Promise.all(workflowIds.map((workflowId) => follow(stage.line.call, workflowId)));
  for (const workflowId of workflowIds)
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
});

test('a ramdisk that wrote another digest fails the deploy, and the cleanup runs', async () => {
  const found = 'e'.repeat(64);
  stage = await setStage(
    instead('deploy.image', async (operation, at) => {
      const machine = stage.machines.get('node-1') ?? {};
      await at.report({ results: [await signedSuccess(operation, machine, { digest: found })] });
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  const after = await workflow(stage.line.call, workflowId);
  expect(after).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'digest-mismatch', expected: osDigest, found } },
  });
  expect(after.steps.map(({ state }) => state)).toEqual([
    ...Array(5).fill('succeeded'),
    'failed',
    'skipped',
    'skipped',
    'succeeded',
  ]);
  const { data: node } = await stage.line.call('nodes.get', { tenantId: 'root', nodeId: 'node-1' });
  expect(node).toMatchObject({ state: 'failed' });
});

test("a failure's code and facts come from the machine to the workflow", async () => {
  stage = await setStage(
    instead('deploy.image', (operation, at) => at.report(failedWith(operation, 'DRIVER_ERROR', 'truncated'))),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'truncated' } },
  });
});

test('a machine that boots again in the middle of a write fails that try and a retry succeeds', async () => {
  let tries = 0;
  stage = await setStage(
    async (operation, at) => {
      if (operation.action !== 'deploy.image' || ++tries > 1) return false;
      const machine = stage.machines.get('node-1') ?? {};
      await bootMachine('node-1', at, machine);
      return true;
    },
    {
      ...sampleProfile,
      steps: sampleProfile.steps.map((step) =>
        step.use === 'deploy.deploy' ? { ...step, retries: 1 } : step,
      ),
    },
  );
  const workflowId = await deploy(stage.line, 'node-1');
  const events = await follow(stage.line.call, workflowId);
  const retrying = events.find(({ type }) => type === 'step.retrying');
  expect(retrying?.data).toMatchObject({
    error: { code: 'DRIVER_ERROR', details: { reason: 'ramdisk-lost' } },
  });
  const after = await workflow(stage.line.call, workflowId);
  expect(after).toMatchObject({ state: 'succeeded' });
  expect(after.steps.find(({ use }) => use === 'deploy.deploy')).toMatchObject({ attempt: 2 });
});

test('a retry waits for a machine that its site had lost', async () => {
  const tried = Promise.withResolvers<FakeSite>();
  let tries = 0;
  const steps = sampleProfile.steps.map((step) =>
    step.use === 'deploy.deploy' ? { ...step, retries: 1 } : step,
  );
  stage = await setStage(
    async (operation, at) => {
      if (operation.action !== 'deploy.image' || ++tries > 1) return false;
      const lost = { eventId: 'lost-1', at: new Date().toISOString(), nodeId: operation.nodeId };
      await at.report({ events: [{ ...lost, type: 'agent.lost', role: 'ramdisk' }] });
      tried.resolve(at);
      return true;
    },
    { ...sampleProfile, steps },
  );
  const workflowId = await deploy(stage.line, 'node-1');
  const site = await tried.promise;
  let starts = 0;
  const isSecondStart = ({ type, text }: EventView) =>
    type === 'step.started' && text === 'deploy.deploy' && ++starts === 2;
  const started = await follow(stage.line.call, workflowId, isSecondStart);
  // Whoever waits for events is told of a start when it happens, not with what comes next.
  expect(Date.now() - Date.parse(started.at(-1)?.at ?? '')).toBeLessThan(5_000);
  await bootMachine('node-1', site, stage.machines.get('node-1') ?? {});
  const events = await follow(stage.line.call, workflowId);
  expect(events.find(({ type }) => type === 'step.retrying')?.data).toMatchObject({
    error: { code: 'DRIVER_ERROR', details: { reason: 'ramdisk-lost' } },
  });
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
});
