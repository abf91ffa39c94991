import { afterEach, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import type { ImageVerifier } from '#central/images/verifier.ts';
import { imagesCachedAt, syncSiteImageLocations } from '#central/siteCaches/locations.ts';
import type { Store } from '#central/store/store.ts';
import type { Operation } from '#contract/operations.ts';
import { mustRegister, newSigner, osImage } from './centre.ts';
import { type FakeSite, pollOnce } from './fakeSite.ts';
import { bootMachine, deploy, follow, osDigest, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { failedWith, instead, type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const withoutUserData = { ...sampleProfile, userData: undefined };
const using = (...names: string[]) => sampleProfile.steps.filter(({ use }) => names.includes(use));

test.each([
  ['INVALID_CONFIG', { path: 'userData' }, { ...withoutUserData, steps: using('userdata.render') }],
  [
    'INVALID_CONFIG',
    { path: 'userData.template' },
    { ...sampleProfile, userData: { kind: 'cloud-init', template: 'none.yaml' } },
  ],
  [
    'INVALID_CONFIG',
    { path: 'userData.bcdUrl' },
    { ...sampleProfile, userData: { kind: 'cloud-init', template: 'bcd-host.yaml.hbs' } },
  ],
  [
    'INVALID_CONFIG',
    { path: 'steps' },
    { ...sampleProfile, steps: sampleProfile.steps.filter(({ use }) => use !== 'userdata.render') },
  ],
  ['INVALID_STATE', { reason: 'no-ramdisk' }, { ...withoutUserData, steps: using('deploy.deploy') }],
  ['INVALID_STATE', { reason: 'no-ramdisk' }, { ...withoutUserData, steps: using('boot.kexec') }],
])('a deploy ends with %s %j', async (code, details, profile) => {
  stage = await setStage(undefined, JSON.parse(JSON.stringify(profile)));
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code, details },
  });
  expect(stage.site.taken.map(({ action }) => action)).not.toContain('deploy.image');
});

test.each([
  ['NOT_FOUND', { ref: 'wanted@1' }, undefined],
  ['INVALID_STATE', { reason: 'unsigned', ref: 'wanted@1' }, { format: 'raw', signed: false }],
  ['INVALID_INPUT', { path: 'image' }, { format: 'iso', signed: true }],
] as const)('an image ends the deploy with %s %j', async (code, details, image) => {
  const document = { ...sampleProfile, image: { ref: 'wanted@1' } };
  stage = await setStage(undefined, document);
  const { call, signer } = stage.line;
  if (image !== undefined) {
    const wanted = osImage({ ref: 'wanted@1', format: image.format });
    await mustRegister(call, image.signed ? signer.signed(wanted) : wanted);
  }
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({ state: 'failed', error: { code, details } });
  expect(stage.site.taken.map(({ action }) => action)).not.toContain('deploy.image');
});

test.each([
  [
    'a revoked signer',
    (store: Store) => store.updateTable('image_signers').set({ revoked_at: 'now' }).execute(),
  ],
  [
    'a tampered catalog row',
    (store: Store) =>
      store
        .updateTable('images')
        .set({ sha256: 'b'.repeat(64) })
        .where('ref', '=', 'demo-os@1')
        .execute(),
  ],
])(
  '%s stops the deploy with INVALID_STATE, and the node fails without any deploy.image sent',
  async (_, change) => {
    // The ramdisk has booted by then: an image is verified right before use.
    stage = await setStage(
      instead('power.setPower', async (operation, at) => {
        await onHost(stage.line.directory, ({ store }) => change(store));
        await at.succeed(operation);
        await bootMachine('node-1', at, stage.machines.get('node-1') ?? {});
      }),
    );
    const { call } = stage.line;
    const workflowId = await deploy(stage.line, 'node-1');
    await follow(call, workflowId);
    expect(await workflow(call, workflowId)).toMatchObject({
      state: 'failed',
      error: { code: 'INVALID_STATE', details: { reason: 'signature', ref: 'demo-os@1' } },
    });
    expect(stage.site.taken.map(({ action }) => action)).not.toContain('deploy.image');
    const { data: node } = await call('nodes.get', { tenantId: 'root', nodeId: 'node-1' });
    expect(node).toMatchObject({ state: 'failed', images: [] });
  },
);

test("allowUnsigned lets a tenant's own unsigned OS image deploy, for development", async () => {
  const document = { ...sampleProfile, image: { ref: 'unsigned@1' } };
  stage = await setStage(undefined, document, { images: { allowUnsigned: true } });
  await mustRegister(stage.line.call, osImage({ ref: 'unsigned@1', sha256: 'c'.repeat(64) }));
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
  expect(stage.machines.get('node-1')?.deployed).toMatchObject({ digest: 'c'.repeat(64) });
});

test('the verifier that is given for deploys decides at deploy time, of ramdisks too', async () => {
  const asked: string[] = [];
  const deployVerifier: ImageVerifier = async ({ image, allowlist }) => {
    asked.push(`${image.ref} by ${allowlist}`);
    return image.kind === 'ramdisk' ? {} : undefined;
  };
  stage = await setStage(undefined, sampleProfile, { images: { deployVerifier } });
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_STATE', details: { reason: 'signature', ref: 'demo-os@1' } },
  });
  expect(asked).toEqual(['ramdisk@1 by root', 'demo-os@1 by root']);
});

test('an OS image that a pool names as its ramdisk boots nothing', async () => {
  stage = await setStage();
  const { call, poolId } = stage.line;
  await call('pools.update', { tenantId: 'root', poolId, policy: { ramdisk: { x86_64: 'demo-os@1' } } });
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_STATE', details: { reason: 'not-a-ramdisk', ref: 'demo-os@1' } },
  });
});

test("an image is pinned in its site's cache while a deploy streams it, and is used then", async () => {
  const digest = osDigest;
  const seen = Promise.withResolvers<{ operation: Operation; at: FakeSite }>();
  stage = await setStage(instead('deploy.image', (operation, at) => seen.resolve({ operation, at })));
  const { call, directory, siteId } = stage.line;
  const host = <Value>(work: (store: Store) => Promise<Value>) =>
    onHost(directory, ({ store }) => work(store));
  await stage.site.report({ images: [{ digest, ref: 'demo-os@1', state: 'ready' }] });
  await expect.poll(() => host((store) => imagesCachedAt(store, siteId))).toMatchObject([{ digest }]);
  const workflowId = await deploy(stage.line, 'node-1');
  const { operation, at } = await seen.promise;
  await at.report({ images: [] });
  const pins = () => host((store) => store.selectFrom('image_pins').select('workflow_id').execute());
  expect(await pins()).toEqual([{ workflow_id: workflowId }]);
  const poll = { observedGeneration: 0, taken: [], waitSeconds: 0 };
  const pinned = async () => (await pollOnce(stage.site, poll)).spec?.site?.pinned;
  expect(await pinned()).toEqual([digest]);
  await host((store) => syncSiteImageLocations(store, siteId));
  expect(await host((store) => imagesCachedAt(store, siteId))).toMatchObject([
    { digest, usedAt: expect.any(String) },
  ]);
  await at.report(failedWith(operation, 'DRIVER_ERROR', 'truncated'));
  await follow(call, workflowId);
  expect(await pins()).toEqual([]);
  expect(await pinned()).toEqual([]);
  await host((store) => syncSiteImageLocations(store, siteId));
  expect(await host((store) => imagesCachedAt(store, siteId))).toEqual([]);
});

test("the machine owner's own image is written before a public one of the same ref", async () => {
  stage = await setStage(undefined, { ...sampleProfile, image: { ref: 'same@1' } });
  const { call, signer, directory } = stage.line;
  const foreign = await newSigner(directory, 'acme', 'acme-builds');
  const theirs = await mustRegister(
    call,
    foreign.signed(osImage({ tenantId: 'acme', ref: 'same@1', sha256: 'b'.repeat(64) })),
  );
  await call('images.promote', { tenantId: 'acme', imageId: theirs.imageId });
  await mustRegister(call, signer.signed(osImage({ ref: 'same@1', sha256: 'c'.repeat(64) })));
  await follow(call, await deploy(stage.line, 'node-1'));
  expect(stage.machines.get('node-1')?.deployed).toMatchObject({ digest: 'c'.repeat(64) });
});

test('a public image of another tenant is written when there is no own one', async () => {
  stage = await setStage(undefined, { ...sampleProfile, image: { ref: 'public@1' } });
  const { call, directory } = stage.line;
  const foreign = await newSigner(directory, 'acme', 'acme-builds');
  const image = osImage({ tenantId: 'acme', ref: 'public@1', sha256: 'd'.repeat(64) });
  const theirs = await mustRegister(call, foreign.signed(image));
  await call('images.promote', { tenantId: 'acme', imageId: theirs.imageId });
  await follow(call, await deploy(stage.line, 'node-1'));
  expect(stage.machines.get('node-1')?.deployed).toMatchObject({ digest: 'd'.repeat(64) });
});

test('a node in no pool has no ramdisk to boot', async () => {
  stage = await setStage();
  const { call, siteId } = stage.line;
  await call('metal.enroll', { tenantId: 'root', siteId, nodeId: 'node-2', macs: ['52:54:00:00:00:02'] });
  const workflowId = await deploy(stage.line, 'node-2');
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_STATE', details: { reason: 'no-ramdisk-image', nodeId: 'node-2' } },
  });
});

test('a power call is a workflow of one step and leaves the state of the node alone', async () => {
  stage = await setStage();
  const { call } = stage.line;
  const input = { tenantId: 'root', nodeId: 'node-1', action: 'off' };
  const { data } = await call<{ workflowId: string }>('metal.power', input);
  await follow(call, data.workflowId);
  expect(await workflow(call, data.workflowId)).toMatchObject({
    state: 'succeeded',
    steps: [{ use: 'power.setPower', state: 'succeeded' }],
  });
  expect(stage.site.taken.map(({ input }) => input)).toEqual([{ action: 'off' }]);
  expect((await call('nodes.get', { tenantId: 'root', nodeId: 'node-1' })).data).toMatchObject({
    state: 'enrolled',
  });
});
