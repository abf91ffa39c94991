import { expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import type { NodeSpec } from '#contract/nodeSpec.ts';
import type { Operation } from '#contract/operations.ts';
import { mustRegister, osImage } from './centre.ts';
import { pollOnce } from './fakeSite.ts';
import { deploy, follow, workflow } from './line.ts';
import { metalStage } from './metalStage.ts';
import { sampleProfile } from './sampleProfile.ts';
import type { Stage } from './stage.ts';

const digest = 'b'.repeat(64);
const source = 'https://isos.example.com/installer.iso';
const iso = osImage({ ref: 'installer@1', format: 'iso', compression: 'none', sha256: digest, source });
const insert = { use: 'media.insert', with: { image: 'installer@1' } };
const eject = { use: 'media.eject' };

/** What a site is asked, and holds for the centre at that moment. */
interface Asked {
  input: Operation['input'];
  images: NonNullable<NodeSpec['site']>['cacheImages'];
  pinned: readonly string[];
}

interface Scene {
  stage: Stage;
  asked: Asked[];
}

type Refusal = readonly [code: string, reason: string];
type Settled = { mediaFrom?: 'source' | 'cache'; refusal?: Refusal };

/** A site that has told where its BMCs read ISOs, and whose BMC refuses what it is given with `refusal`. */
async function scene({ mediaFrom, refusal }: Settled, image = iso): Promise<Scene> {
  const asked: Asked[] = [];
  const stage = await metalStage({
    'media.insert': async (operation, site) => {
      const { spec } = await pollOnce(site, { observedGeneration: 0, taken: [operation.operationId] });
      const { cacheImages: images = [], pinned = [] } = spec?.site ?? {};
      asked.push({ input: operation.input, images, pinned });
      const why = insertFails.get(stage) ?? refusal;
      if (why === undefined || 'entry' in operation.input) await site.succeed(operation, { by: 'any' });
      else await site.report({ results: [failed(operation, why)] });
      return true;
    },
    'media.eject': async (operation, site) => {
      if (ejectFails.has(stage))
        await site.report({ results: [failed(operation, ['DRIVER_ERROR', 'busy'])] });
      else await site.succeed(operation, {});
      return true;
    },
  });
  if (mediaFrom !== undefined) await stage.site.report({ settings: { mediaFrom } });
  await mustRegister(stage.line.call, stage.line.signer.signed(image));
  return { stage, asked };
}

const ejectFails = new WeakSet<Stage>();
const insertFails = new WeakMap<Stage, Refusal>();

function failed({ operationId }: Operation, [code, reason]: readonly [string, string]) {
  const error = { code, message: 'not here', details: { reason } } as never;
  return { operationId, outcome: 'failed' as const, finishedAt: new Date().toISOString(), error };
}

let profiles = 0;
async function run({ line }: Stage, steps: object[]) {
  const profileId = `iso-${++profiles}`;
  const document = { ...sampleProfile, id: profileId, userData: undefined, steps, cleanup: [] };
  const created = await line.call('profiles.create', { tenantId: 'root', document });
  if (created.error !== undefined) throw new Error(created.error.message);
  const workflowId = await deploy(line, 'node-2', { profileId });
  await follow(line.call, workflowId);
  return workflow(line.call, workflowId);
}

async function heldNow({ site }: Stage, isos: readonly string[] = ['installer@1']) {
  const { spec } = await pollOnce(site, { observedGeneration: 0, taken: [] });
  return spec?.site?.cacheImages.filter(({ ref }) => isos.includes(ref));
}

test('a site whose BMCs read from its cache is given the ISO first, pinned, and then the digest to mount', async () => {
  const { stage, asked } = await scene({ mediaFrom: 'cache' });
  expect(await run(stage, [insert])).toMatchObject({ state: 'succeeded' });
  const [only, ...more] = asked;
  expect(more).toEqual([]);
  expect(only?.input).toEqual({ cached: { ref: 'installer@1', digest } });
  expect(only?.images).toContainEqual(expect.objectContaining({ digest, private: true, sources: [source] }));
  expect(only?.pinned).toContain(digest);
  // As long as it is mounted, whether a workflow runs or not, by a machine that is in service.
  expect(await heldNow(stage)).toHaveLength(1);
  await onHost(stage.line.directory, ({ store }) =>
    store.updateTable('nodes').set({ state: 'retired' }).where('node_id', '=', 'node-2').execute(),
  );
  expect(await heldNow(stage)).toEqual([]);
});

test('a site that has told nothing has its BMCs mount the source, and no image is handed to it', async () => {
  const { stage, asked } = await scene({});
  await run(stage, [insert]);
  expect(asked[0]).toMatchObject({ input: { url: source }, pinned: [] });
  expect(await heldNow(stage)).toEqual([]);
  expect(await listed(stage)).not.toHaveProperty('mediaFrom');
});

async function listed({ line }: Stage) {
  return (await line.call<{ items: object[] }>('sites.list', {})).data?.items[0];
}

const registry = { ...iso, source: 'oci://registry.example.com/isos/installer:1' };

test('an ISO of a registry is refused where BMCs mount sources, and mounted where they read from the cache', async () => {
  const { stage, asked } = await scene({ mediaFrom: 'source' }, registry);
  const details = { path: 'image', reason: 'scheme' };
  expect(await run(stage, [insert])).toMatchObject({ error: { code: 'INVALID_INPUT', details } });
  expect(asked).toEqual([]);

  const other = await scene({ mediaFrom: 'cache' }, registry);
  expect(await run(other.stage, [insert])).toMatchObject({ state: 'succeeded' });
  expect(other.asked).toMatchObject([{ input: { cached: { digest } } }]);
});

test('a public ISO is not private in the cache either; a site is shown with what it has told, and no nonsense is taken', async () => {
  const { stage, asked } = await scene({ mediaFrom: 'cache' });
  await stage.site.report({ settings: { mediaFrom: 'elsewhere' } as never });
  expect(await listed(stage)).toMatchObject({ mediaFrom: 'cache' });
  const images = await stage.line.call<{ items: { imageId: string; ref: string }[] }>('images.list', {
    tenantId: 'root',
  });
  const found = images.data?.items.find(({ ref }) => ref === 'installer@1');
  await onHost(stage.line.directory, ({ store }) =>
    store
      .updateTable('images')
      .set({ visibility: 'public' })
      .where('image_id', '=', found?.imageId ?? '')
      .execute(),
  );
  await run(stage, [insert]);
  expect(asked[0]?.images.find((image) => image.digest === digest)).not.toHaveProperty('private');
});

test('media.eject ends it, but not one that the BMC has failed', async () => {
  const { stage } = await scene({ mediaFrom: 'cache' });
  ejectFails.add(stage);
  expect(await run(stage, [insert, eject])).toMatchObject({ state: 'failed' });
  expect(await heldNow(stage)).toHaveLength(1);
  ejectFails.delete(stage);
  expect(await run(stage, [eject])).toMatchObject({ state: 'succeeded' });
  expect(await heldNow(stage)).toEqual([]);
});

test('another medium takes the place of the one from the cache, also one that a driver is told to insert', async () => {
  const { stage } = await scene({ mediaFrom: 'cache' });
  await run(stage, [insert, { use: 'media.insert', with: { url: source } }]);
  expect(await heldNow(stage)).toEqual([]);
  const invoke = { concern: 'virtual-media', operation: 'insertMedia', input: { url: source } };
  await run(stage, [insert, { use: 'driver.invoke', with: invoke }]);
  expect(await heldNow(stage)).toEqual([]);
});

test('a mount that fails leaves nothing desired', async () => {
  const { stage } = await scene({ mediaFrom: 'cache', refusal: ['DRIVER_ERROR', 'refused'] });
  expect(await run(stage, [insert])).toMatchObject({ state: 'failed' });
  expect(await heldNow(stage)).toEqual([]);
});

test('one that fails leaves the ISO that the BMC still reads, the same one or another; one that does not takes its place', async () => {
  const { stage } = await scene({ mediaFrom: 'cache' });
  const other = { ...iso, ref: 'installer@2', sha256: 'c'.repeat(64) };
  await mustRegister(stage.line.call, stage.line.signer.signed(other));
  const insertOther = { use: 'media.insert', with: { image: 'installer@2' } };
  const held = async () => (await heldNow(stage, ['installer@1', 'installer@2']))?.map(({ ref }) => ref);
  await run(stage, [insert]);
  insertFails.set(stage, ['DRIVER_ERROR', 'unreachable']);
  for (const step of [insertOther, insert]) {
    expect(await run(stage, [step])).toMatchObject({ state: 'failed' });
    expect(await held()).toEqual(['installer@1']);
  }
  insertFails.delete(stage);
  expect(await run(stage, [insertOther])).toMatchObject({ state: 'succeeded' });
  expect(await held()).toEqual(['installer@2']);
});

test('a BMC without virtual media boots the same ISO by sanboot', async () => {
  const { stage, asked } = await scene({ mediaFrom: 'cache', refusal: ['UNSUPPORTED', 'virtual-media'] });
  expect(await run(stage, [insert])).toMatchObject({ state: 'succeeded' });
  expect(asked.map(({ input }) => Object.keys(input))).toEqual([['cached'], ['entry']]);
});
