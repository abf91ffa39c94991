import { afterEach, expect, test } from 'vitest';
import type { ApiContext } from '#central/api/method.ts';
import type { Caller } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { requireNode } from '#central/nodes.ts';
import { deleteProfile, updateProfile } from '#central/profiles/change.ts';
import { requireProfile } from '#central/profiles/find.ts';
import { openShippedProfiles } from '#central/profiles/shipped.ts';
import type { Store } from '#central/store/store.ts';
import type { Row } from '#central/store/tables.ts';
import { startWorkflow } from '#central/workflows/start.ts';
import { mustRegister, osImage } from './centre.ts';
import { deploy, follow, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { failedWith, instead, type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const { id: profileId } = sampleProfile;

/** The sample profile, with this input of its `deploy.deploy`. */
function withDeploy(input: object) {
  const steps = sampleProfile.steps.map((step) =>
    step.use === 'deploy.deploy' ? { ...step, with: input } : step,
  );
  return { ...sampleProfile, steps };
}

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

test('an image that a step names is written as its catalog says, not as the profile says of its own', async () => {
  stage = await setStage(undefined, withDeploy({ image: 'other@1' }));
  const { call, signer } = stage.line;
  const other = osImage({ ref: 'other@1', format: 'qcow2', compression: 'none', sha256: 'c'.repeat(64) });
  await mustRegister(call, signer.signed(other));
  await follow(call, await deploy(stage.line, 'node-1'));
  expect(stage.machines.get('node-1')?.deployed).toMatchObject({
    ref: 'other@1',
    format: 'qcow2',
    compression: 'none',
  });
});

test('deploy.deploy refuses what the profile says is an iso, whatever the catalog says', async () => {
  stage = await setStage(undefined, { ...sampleProfile, image: { ref: 'demo-os@1', format: 'iso' } });
  const { call } = stage.line;
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_INPUT', details: { path: 'image' } },
  });
  expect(stage.machines.get('node-1')?.deployed).toBeUndefined();
});

test('a profile deploys without an image of its own: by the image of its step, or by an iso that it mounts', async () => {
  const { image: _, ...imageless } = withDeploy({ image: 'demo-os@1' });
  const inserted: object[] = [];
  stage = await setStage(
    instead('media.insert', (operation, at) => {
      inserted.push(operation.input);
      return at.succeed(operation, {});
    }),
    imageless,
  );
  const { call } = stage.line;
  await follow(call, await deploy(stage.line, 'node-1'));
  expect(stage.machines.get('node-1')?.deployed).toMatchObject({ ref: 'demo-os@1' });
  const url = 'https://isos.example.com/installer.iso';
  const steps = [
    { use: 'media.insert', with: { url } },
    { use: 'management.setBootDevice', with: { device: 'cd' } },
    { use: 'power.setPower', with: { action: 'cycle' } },
  ];
  const document = { id: 'iso', version: 1, target: 'metal', steps };
  await call('profiles.create', { tenantId: 'root', document });
  await follow(call, await deploy(stage.line, 'node-1', { profileId: 'iso' }));
  expect(inserted).toEqual([{ url }]);
  expect((await call('nodes.get', { tenantId: 'root', nodeId: 'node-1' })).data).toMatchObject({
    state: 'active',
    role: 'host',
  });
});

test('a workflow never runs another document than the one that is kept, nor a deleted one', async () => {
  stage = await setStage();
  const { call, directory } = stage.line;
  const change = async (
    version: number,
    changed: (store: Store, row: Row<'profiles'>) => Promise<unknown>,
  ) => {
    await call('profiles.create', { tenantId: 'root', document: { ...sampleProfile, version } });
    return onHost(directory, async ({ store }) => {
      const shippedProfiles = openShippedProfiles();
      const { profile, row } = await requireProfile({ store, shippedProfiles }, 'root', profileId, version);
      await changed(store, row as Row<'profiles'>);
      const node = await requireNode(store, 'root', 'node-1');
      const request = { node, profile, profileRow: row, method: 'deploy' as const };
      // What starts it is not reached.
      return startWorkflow({ store } as ApiContext, { ...request, caller: {} as Caller });
    });
  };
  const refused = { code: 'CONFLICT', details: { path: 'profileId', reason: 'row-version' } };
  const document = (version: number) => ({ ...sampleProfile, version, description: 'other' });
  await expect(
    change(2, (store, row) => updateProfile(store, row, { document: document(2) })),
  ).rejects.toMatchObject(refused);
  await expect(change(3, (store) => deleteProfile(store, 'root', profileId, 3))).rejects.toMatchObject(
    refused,
  );
  const kept = await call('profiles.get', { tenantId: 'root', profileId, profileVersion: 2 });
  expect(kept.data).toMatchObject({ used: false });
  expect((await call('nodes.get', { tenantId: 'root', nodeId: 'node-1' })).data).toMatchObject({
    state: 'enrolled',
  });
});

test('nothing starts a profile that adopts, one for another target, or one without steps', async () => {
  stage = await setStage();
  const { call } = stage.line;
  for (const [id, more] of Object.entries({
    adopts: { target: 'metal', entry: 'adopt' },
    vps: { target: 'vps', image: { ref: 'demo-os@1' } },
    idle: { target: 'metal', image: { ref: 'demo-os@1' } },
  })) {
    await call('profiles.create', { tenantId: 'root', document: { id, version: 1, ...more } });
    expect(await call('metal.deploy', { tenantId: 'root', nodeId: 'node-1', profileId: id })).toMatchObject({
      status: 400,
      error: { code: 'INVALID_INPUT', details: { path: 'profileId' } },
    });
  }
});

test('a wait of less than a millisecond, or of a fraction of one, is a wait', async () => {
  stage = await setStage();
  const { call } = stage.line;
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(call, workflowId);
  for (const waitSeconds of [Number.MIN_VALUE, 0.0005, 1.00025])
    expect((await call('workflows.events', { tenantId: 'root', workflowId, waitSeconds })).status).toBe(200);
});
