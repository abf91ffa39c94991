import { expect, test } from 'vitest';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import { decideJoin } from '#central/agents/joinChecks.ts';
import { onHost } from '#central/host.ts';
import { withdrawDigest } from '#central/images/withdrawal.ts';
import type { Store } from '#central/store/store.ts';
import type { IsoEntry } from '#contract/bootEntry.ts';
import type { RamdiskJoin } from '#contract/join.ts';
import type { NodeSpec } from '#contract/nodeSpec.ts';
import type { Operation } from '#contract/operations.ts';
import { mustRegister, osImage } from './centre.ts';
import { type FakeSite, pollOnce } from './fakeSite.ts';
import { deploy, follow, workflow } from './line.ts';
import { type Answers, metalStage } from './metalStage.ts';
import { sampleProfile } from './sampleProfile.ts';
import type { Stage } from './stage.ts';

const digest = 'b'.repeat(64);
const source = 'https://isos.example.com/installer.iso';
const iso = osImage({ ref: 'installer@1', format: 'iso', compression: 'none', sha256: digest, source });

/** How a BMC refuses, as its site tells it. */
const refusals = {
  'without a virtual drive': ['UNSUPPORTED', 'virtual-media'],
  'that wants a license for it': ['DRIVER_ERROR', 'license'],
  'that has refused the URL': ['DRIVER_ERROR', 'refused'],
} as const;
type Bmc = keyof typeof refusals;

/** What the site is asked and has beside it, at each `media.insert`, in the order of them. */
interface Asked {
  input: Operation['input'];
  spec: NodeSpec['site'];
  pins: object[];
}

interface Scene {
  stage: Stage;
  asked: Asked[];
  host<Value>(work: (store: Store) => Promise<Value>): Promise<Value>;
}

/** A stage whose BMC is as said; `sanboot` is what the site answers to the entry. */
async function scene(bmc: Bmc, sanboot: 'placed' | 'no bytes' = 'placed'): Promise<Scene> {
  const asked: Asked[] = [];
  const [code, reason] = refusals[bmc];
  const fail = (operation: Operation, site: FakeSite, error: object) =>
    site.report({ results: [{ ...failure(operation), error: error as never }] });
  const insert: Answers[string] = async (operation, site) => {
    const { spec } = await pollOnce(site, { observedGeneration: 0, taken: [operation.operationId] });
    asked.push({ input: operation.input, spec: spec?.site, pins: await pins() });
    if ('url' in operation.input)
      await fail(operation, site, { code, message: 'not here', details: { reason } });
    else if (sanboot === 'placed') await site.succeed(operation, { by: 'sanboot' });
    else await fail(operation, site, { code: 'DRIVER_ERROR', message: 'x', details: { reason: 'digest' } });
    return true;
  };
  const stage = await metalStage({ 'media.insert': insert, 'management.setBootDevice': {} });
  const host = <Value>(work: (store: Store) => Promise<Value>) =>
    onHost(stage.line.directory, ({ store }) => work(store));
  const pins = () => host((store) => store.selectFrom('image_pins').select('image_id').execute());
  await mustRegister(stage.line.call, stage.line.signer.signed(iso));
  return { stage, asked, host };
}

function failure({ operationId }: Operation) {
  return { operationId, outcome: 'failed' as const, finishedAt: new Date().toISOString() };
}

/** Runs these steps on `node-2` to their end. */
async function run({ line }: Stage, steps: object[]) {
  const document = { ...sampleProfile, id: 'iso-only', userData: undefined, steps, cleanup: [] };
  const created = await line.call('profiles.create', { tenantId: 'root', document });
  if (created.error !== undefined) throw new Error(created.error.message);
  const workflowId = await deploy(line, 'node-2', { profileId: 'iso-only' });
  await follow(line.call, workflowId);
  return workflow(line.call, workflowId);
}

const insert = { use: 'media.insert', with: { image: 'installer@1' } };
const specNow = async ({ site }: Stage) =>
  (await pollOnce(site, { observedGeneration: 0, taken: [] })).spec?.site;

test.each(['without a virtual drive', 'that wants a license for it'] as const)(
  'a BMC %s: the site gets the ISO and its signed entry, before the operation',
  async (bmc) => {
    const { stage, asked } = await scene(bmc);
    const ended = await run(stage, [insert]);
    expect(ended).toMatchObject({ state: 'succeeded', steps: [{ result: { by: 'sanboot' } }] });
    const [first, second] = asked;
    expect(first).toMatchObject({ input: { url: source }, spec: { bootEntries: [] }, pins: [] });
    expect(first?.spec?.cacheImages.map(({ ref }) => ref)).not.toContain('installer@1');
    const { entry } = second?.input ?? {};
    const key = publicKeyFromJwk(stage.site.wellKnown.joinSigningKey);
    expect(await verifyDocument('railhead-boot-entry', String(entry), key)).toMatchObject({
      siteId: stage.line.siteId,
      nodeId: 'node-2',
      macs: ['52:54:00:00:00:02'],
      iso: { ref: 'installer@1', digest },
    });
    expect(second?.spec?.bootEntries).toEqual([entry]);
    const signed = { signature: expect.any(String), signerKey: expect.any(String) };
    expect(second?.spec?.cacheImages).toContainEqual(
      expect.objectContaining({ digest, format: 'iso', sources: [source], ...signed }),
    );
    expect(second?.pins).toHaveLength(1);
  },
);

test('an entry has the VLAN of its node', async () => {
  const { stage, asked } = await scene('without a virtual drive');
  const node = { tenantId: 'root', nodeId: 'node-2' };
  expect((await stage.line.call('nodes.update', { ...node, vlan: 42 })).data).toMatchObject({ vlan: 42 });
  await run(stage, [insert]);
  const key = publicKeyFromJwk(stage.site.wellKnown.joinSigningKey);
  const entry = await verifyDocument('railhead-boot-entry', String(asked[1]?.input.entry), key);
  expect(entry).toMatchObject({ nodeId: 'node-2', vlan: 42 });
  const without = (await stage.line.call('nodes.update', { ...node, vlan: null })).data;
  expect(without).not.toHaveProperty('vlan');
  for (const vlan of [0, 4095, 1.5, '42'])
    expect(await stage.line.call('nodes.update', { ...node, vlan })).toMatchObject({
      error: { code: 'INVALID_INPUT', details: { path: 'vlan' } },
    });
});

test('like a medium the entry outlives its workflow, and the ISO stays desired with it; the pin ends', async () => {
  const { stage, host } = await scene('without a virtual drive');
  await run(stage, [insert]);
  const held = await specNow(stage);
  expect(held?.bootEntries).toHaveLength(1);
  expect(held?.cacheImages.map(({ ref }) => ref)).toContain('installer@1');
  expect(await host((store) => store.selectFrom('image_pins').selectAll().execute())).toEqual([]);
});

test('media.eject takes the entry and the ISO out of the desired state', async () => {
  const { stage } = await scene('without a virtual drive');
  expect(await run(stage, [insert, { use: 'media.eject' }])).toMatchObject({ state: 'succeeded' });
  const spec = await specNow(stage);
  expect(spec?.bootEntries).toEqual([]);
  expect(spec?.cacheImages.map(({ ref }) => ref)).not.toContain('installer@1');
});

test('another medium takes the place of the ISO in the desired state', async () => {
  const { stage } = await scene('without a virtual drive');
  await run(stage, [insert, { use: 'media.insert', with: { url: source } }]);
  expect((await specNow(stage))?.bootEntries).toEqual([]);
});

test('a withdrawn ISO is desired no more, and its entry neither', async () => {
  const { stage, host } = await scene('without a virtual drive');
  await run(stage, [insert]);
  await host((store) => withdrawDigest(store, digest, 'CVE-2026-1'));
  const spec = await specNow(stage);
  expect(spec).toMatchObject({ withdrawn: [digest], bootEntries: [] });
  expect(spec?.cacheImages.map((image) => image.digest)).not.toContain(digest);
});

test('what a BMC says about the URL is the end of it', async () => {
  const { stage, asked } = await scene('that has refused the URL');
  expect(await run(stage, [insert])).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'refused' } },
  });
  expect(asked).toHaveLength(1);
});

test('an ISO that the site cannot have fails the step, and leaves nothing desired', async () => {
  const { stage, host } = await scene('without a virtual drive', 'no bytes');
  expect(await run(stage, [insert])).toMatchObject({ state: 'failed', error: { code: 'DRIVER_ERROR' } });
  expect((await specNow(stage))?.bootEntries).toEqual([]);
  expect(await host((store) => store.selectFrom('image_pins').selectAll().execute())).toEqual([]);
});

test('a URL that is no image of the catalog has nothing to fall back on', async () => {
  const { stage, asked } = await scene('without a virtual drive');
  const ended = await run(stage, [{ use: 'media.insert', with: { url: source } }]);
  expect(ended).toMatchObject({
    state: 'failed',
    error: { code: 'UNSUPPORTED', details: { reason: 'virtual-media' } },
  });
  expect(asked).toHaveLength(1);
});

test('no ramdisk joins under the entry of an ISO', () => {
  const mac = '52:54:00:00:00:02';
  const entry: IsoEntry = {
    ...{ entryId: 'be_1', siteId: 'site_1', nodeId: 'node-2', macs: [mac] },
    iso: { ref: 'installer@1', digest },
    ...{ issuedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2100-01-01T00:00:00.000Z' },
  };
  const event = { eventId: 'ev_1', at: '2026-01-01T00:00:01.000Z', type: 'agent.joined', trust: 'network' };
  const join = { mac, trust: 'network' } as unknown as RamdiskJoin;
  const expected = {
    siteId: 'site_1',
    nodeId: 'node-2',
    macs: [mac],
    entry,
    signingKey: undefined,
    now: Date.now(),
  };
  expect(decideJoin(event as never, join, expected)).toEqual({
    reason: 'no-entry',
    text: 'its boot entry is for the ISO installer@1',
  });
});
