import { afterEach, expect, test } from 'vitest';
import { deploy, follow, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { failedWith, instead, type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const { id: profileId } = sampleProfile;

test('a version becomes immutable the first time a workflow uses it; who sees it may still change', async () => {
  stage = await setStage();
  const { call } = stage.line;
  const update = (change: object) => call('profiles.update', { tenantId: 'root', profileId, ...change });
  expect((await update({ document: { ...sampleProfile, description: 'before' } })).status).toBe(200);
  await follow(call, await deploy(stage.line, 'node-1'));
  expect(await update({ document: { ...sampleProfile, description: 'after' } })).toMatchObject({
    status: 409,
    error: { code: 'INVALID_STATE', details: { reason: 'used' } },
  });
  expect((await update({ visibility: 'public' })).data).toMatchObject({
    used: true,
    usedAt: expect.any(String),
    document: { description: 'before' },
  });
});

test('a running workflow keeps its steps when its profile is deleted, and a new one does not find it', async () => {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  stage = await setStage(async ({ action }) => {
    if (action !== 'boot.prepareRamdisk') return false;
    reached.resolve();
    await go.promise;
    return false;
  });
  const { call } = stage.line;
  const workflowId = await deploy(stage.line, 'node-1');
  await reached.promise;
  expect((await call('profiles.delete', { tenantId: 'root', profileId })).data).toEqual({ deleted: 1 });
  go.resolve();
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({ state: 'succeeded' });
  expect(await call('metal.deploy', { tenantId: 'root', nodeId: 'node-1', profileId })).toMatchObject({
    error: { code: 'NOT_FOUND', details: { path: 'profileId' } },
  });
});

test('a step that fails for good is stood in for by its fallback, and a when is asked of the node’s labels', async () => {
  const steps = [
    {
      use: 'management.setBootDevice',
      with: { device: 'http' },
      retries: 1,
      fallback: [{ use: 'management.setBootDevice', with: { device: 'pxe' } }],
    },
    { use: 'power.getPower', fallback: [{ use: 'power.setPower', with: { action: 'on' } }] },
    { use: 'boot.prepareRamdisk', when: 'role == host' },
    { use: 'boot.prepareRamdisk', when: `site != none && pool` },
  ];
  stage = await setStage(
    (operation, at) =>
      operation.input.device === 'http' &&
      at.report(failedWith(operation, 'DRIVER_ERROR', 'no-http')).then(() => true),
    { ...sampleProfile, userData: undefined, steps },
  );
  const { call } = stage.line;
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(call, workflowId);
  const { state, steps: ran } = await workflow(call, workflowId);
  expect(state).toBe('succeeded');
  expect(
    ran.map((step) => [step.use, step.state, step.attempt, step.state === 'skipped' ? step.result : {}]),
  ).toEqual([
    ['management.setBootDevice', 'failed', 2, {}],
    ['management.setBootDevice', 'succeeded', 1, {}],
    ['power.getPower', 'succeeded', 1, {}],
    ['power.setPower', 'skipped', 0, { reason: 'fallback' }],
    ['boot.prepareRamdisk', 'skipped', 0, { reason: 'when' }],
    ['boot.prepareRamdisk', 'succeeded', 1, {}],
    ['boot.cleanUp', 'succeeded', 1, {}],
  ]);
});

test('a fallback that fails as well fails the workflow with its own error, and the cleanup runs', async () => {
  const steps = [
    { use: 'management.setBootDevice', with: { device: 'http' }, fallback: [{ use: 'power.getPower' }] },
    { use: 'power.setPower', with: { action: 'on' } },
  ];
  const before = instead('power.getPower', (operation, at) =>
    at.report(failedWith(operation, 'DRIVER_ERROR', 'second')),
  );
  stage = await setStage(
    async (operation, at) => {
      if (operation.action !== 'management.setBootDevice') return (await before?.(operation, at)) ?? false;
      await at.report(failedWith(operation, 'DRIVER_ERROR', 'first'));
      return true;
    },
    { ...sampleProfile, userData: undefined, steps },
  );
  const { call } = stage.line;
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(call, workflowId);
  const after = await workflow(call, workflowId);
  expect(after).toMatchObject({ state: 'failed', error: { details: { reason: 'second' } } });
  expect(after.steps.map(({ state }) => state)).toEqual(['failed', 'failed', 'skipped', 'succeeded']);
});

test("a profile's image format and compression override the catalog's", async () => {
  stage = await setStage(undefined, {
    ...sampleProfile,
    image: { ref: 'demo-os@1', format: 'qcow2', compression: 'gzip' },
  });
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  expect(stage.machines.get('node-1')?.deployed).toMatchObject({ format: 'qcow2', compression: 'gzip' });
});

test('nothing starts a profile that adopts, one for another target, or one without an image', async () => {
  stage = await setStage();
  const { call } = stage.line;
  for (const [id, more] of Object.entries({
    adopts: { target: 'metal', entry: 'adopt' },
    vps: { target: 'vps', image: { ref: 'demo-os@1' } },
    imageless: { target: 'metal', steps: [{ use: 'power.getPower' }] },
  })) {
    await call('profiles.create', { tenantId: 'root', document: { id, version: 1, ...more } });
    expect(await call('metal.deploy', { tenantId: 'root', nodeId: 'node-1', profileId: id })).toMatchObject({
      status: 400,
      error: { code: 'INVALID_INPUT', details: { path: 'profileId' } },
    });
  }
});
