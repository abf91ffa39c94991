import { afterEach, expect, test } from 'vitest';
import { mustRegister, newSigner, osImage } from './centre.ts';
import { deploy, follow, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { type Stage, setStage } from './stage.ts';

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
