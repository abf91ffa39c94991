import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CentralContext } from '#central/context.ts';
import { onHost } from '#central/host.ts';
import { openSignals } from '#central/signals.ts';
import { evictionCandidates } from '#central/siteCaches/eviction.ts';
import { recordInventory, siteCacheReconciler } from '#central/siteCaches/inventory.ts';
import {
  imagesCachedAt,
  recordImageLocation,
  syncSiteImageLocations,
  touchImageLocation,
  unpinImages,
} from '#central/siteCaches/locations.ts';
import type { Store } from '#central/store/store.ts';
import type { CacheState } from '#contract/images.ts';
import { mustRegister, newSite, osImage, startTestCentre, type TestCentre } from '../centre.ts';

let centre: TestCentre;
let siteId: string;
let sites = 0;
const digest = (letter: string) => letter.repeat(64);
const imageIds = new Map<string, string>();

beforeAll(async () => {
  centre = await startTestCentre();
  for (const letter of ['a', 'b', 'c']) {
    const image = osImage({ ref: `os-${letter}@1`, sha256: digest(letter), sizeBytes: 100 });
    imageIds.set(letter, (await mustRegister(centre.call, image)).imageId);
  }
});
afterAll(() => centre.close());
beforeEach(async () => {
  siteId = (await newSite(centre.directory, `site-${++sites}`)).siteId;
});

const host = <Value>(work: (store: Store) => Promise<Value>) =>
  onHost(centre.directory, ({ store }) => work(store));
/** This process is not the centre that works off the queue: it looks once a second. */
const patience = { timeout: 10_000 };
const idOf = (letter: string) => imageIds.get(letter) ?? '';

/** Has one agent of the site report this inventory. */
function report(agentId: string, states: Record<string, CacheState>): Promise<void> {
  const images = Object.entries(states).map(([letter, state]) => ({
    digest: digest(letter),
    ref: `os-${letter}@1`,
    state,
  }));
  return host((store) =>
    recordInventory(
      { store, signals: openSignals() } as CentralContext,
      { agentId: `${siteId}-${agentId}`, siteId },
      images,
    ),
  );
}

/** The states of the site's locations, by the letter of the image. */
async function locations(): Promise<Record<string, CacheState>> {
  const rows = await host((store) =>
    store
      .selectFrom('image_locations')
      .innerJoin('images', 'images.image_id', 'image_locations.image_id')
      .select(['images.sha256', 'image_locations.state'])
      .where('site_id', '=', siteId)
      .orderBy('images.ref')
      .execute(),
  );
  return Object.fromEntries(rows.map(({ sha256, state }) => [sha256.charAt(0), state]));
}

const sync = () => host((store) => syncSiteImageLocations(store, siteId));

test('a change of an inventory queues provision.site-cache for the site, which derives the locations', async () => {
  await report('one', { a: 'ready', b: 'pulling', c: 'failed' });
  await expect.poll(locations, patience).toEqual({ a: 'ready', b: 'pulling', c: 'failed' });
  await expect.poll(() => host(queued), patience).toEqual([]);
});

function queued(store: Store) {
  return store
    .selectFrom('reconciles')
    .select('key')
    .where('name', '=', siteCacheReconciler)
    .where('key', '=', siteId)
    .execute();
}

test('a site has an image ready if any of its agents has, else pulling or evicting', async () => {
  await report('one', { a: 'pulling', b: 'evicting', c: 'evicting' });
  await report('two', { a: 'ready', b: 'pulling', c: 'failed' });
  await sync();
  expect(await locations()).toEqual({ a: 'ready', b: 'pulling', c: 'evicting' });
});

test('a location that no agent holds any more is dropped, and kept while another agent holds it', async () => {
  await report('one', { a: 'ready', b: 'ready' });
  await report('two', { b: 'ready' });
  await sync();
  await report('one', {});
  await sync();
  expect(await locations()).toEqual({ b: 'ready' });
});

test('a location that a deploy has pinned stays until it is unpinned', async () => {
  await report('one', { a: 'ready' });
  await sync();
  const pin = (pinFor: string) =>
    host((store) => touchImageLocation(store, { siteId, imageId: idOf('a'), pinFor }));
  await pin('wf_1');
  await pin('wf_1');
  await pin('wf_2');
  await report('one', {});
  await sync();
  expect(await locations()).toEqual({ a: 'ready' });
  expect(await host((store) => unpinImages(store, 'wf_1'))).toEqual([siteId]);
  await sync();
  expect(await locations()).toEqual({ a: 'ready' });
  await host((store) => unpinImages(store, 'wf_2'));
  await sync();
  expect(await locations()).toEqual({});
});

test('an agent that fell silent holds nothing, and holds it again once it is heard', async () => {
  await report('one', { a: 'ready' });
  await host((store) =>
    store
      .updateTable('site_agents')
      .set({ seen_at: '2026-01-01T00:00:00.000Z' })
      .where('site_id', '=', siteId)
      .execute(),
  );
  await sync();
  expect(await locations()).toEqual({});
  await report('one', { a: 'ready' });
  await expect.poll(locations, patience).toEqual({ a: 'ready' });
});

test('what an agent holds before the catalog knows it is located once it is registered', async () => {
  await report('one', { d: 'ready' });
  await sync();
  expect(await locations()).toEqual({});
  await mustRegister(centre.call, osImage({ ref: `os-d-${siteId}@1`, sha256: digest('d') }));
  await expect.poll(locations, patience).toEqual({ d: 'ready' });
});

test('imagesCachedAt lists the ready images of a site, with their last use', async () => {
  await report('one', { a: 'ready', b: 'ready', c: 'pulling' });
  await sync();
  await host((store) => touchImageLocation(store, { siteId, imageId: idOf('b') }));
  expect(await host((store) => imagesCachedAt(store, siteId))).toEqual([
    { imageId: idOf('a'), ref: 'os-a@1', digest: digest('a'), sizeBytes: 100 },
    { imageId: idOf('b'), ref: 'os-b@1', digest: digest('b'), sizeBytes: 100, usedAt: expect.any(String) },
  ]);
});

test('sites.images lists what a site has of each image, page by page', async () => {
  await report('one', { a: 'ready', b: 'failed' });
  await sync();
  await host((store) => touchImageLocation(store, { siteId, imageId: idOf('a'), pinFor: 'wf_1' }));
  const page = (more: object) =>
    centre.call<{ items: object[]; cursor?: string }>('sites.images', { siteId, limit: 1, ...more });
  const { items, cursor } = (await page({})).data;
  expect(items).toEqual([
    {
      imageId: idOf('a'),
      tenantId: 'root',
      ref: 'os-a@1',
      digest: digest('a'),
      state: 'ready',
      pinned: true,
      sizeBytes: 100,
      usedAt: expect.any(String),
      reportedAt: expect.any(String),
    },
  ]);
  expect((await page({ cursor })).data).toMatchObject({
    items: [{ imageId: idOf('b'), state: 'failed', pinned: false }],
  });
  expect(await page({ siteId: 'site_none' })).toMatchObject({ status: 404 });
});

test('recordImageLocation records a report, and a later one takes its place and leaves the last use', async () => {
  const place = { siteId, imageId: idOf('a') };
  const row = () =>
    host((store) =>
      store.selectFrom('image_locations').selectAll().where('site_id', '=', siteId).executeTakeFirst(),
    );
  await host((store) => recordImageLocation(store, { ...place, state: 'pulling', receivedBytes: 5 }));
  await host((store) => touchImageLocation(store, place));
  const before = await row();
  expect(before).toMatchObject({ state: 'pulling', received_bytes: 5, used_at: expect.any(String) });
  await host((store) => recordImageLocation(store, { ...place, state: 'ready' }));
  expect(await row()).toMatchObject({ state: 'ready', received_bytes: null, used_at: before?.used_at });
});

test('the table itself knows four states and no other', async () => {
  const place = { siteId, imageId: idOf('a') };
  const odd = host((store) => recordImageLocation(store, { ...place, state: 'lost' as CacheState }));
  await expect(odd).rejects.toThrow(/check constraint/i);
});

test('evictionCandidates picks the least recently used ready images, never pinned or in-use ones', async () => {
  await report('one', { a: 'ready', b: 'ready', c: 'ready' });
  await sync();
  await host((store) => touchImageLocation(store, { siteId, imageId: idOf('a') }));
  const candidates = async (bytes: number, inUse: string[] = []) =>
    (await host((store) => evictionCandidates(store, siteId, bytes, new Set(inUse)))).map(
      (one) => one.imageIds,
    );
  expect(await candidates(150)).toEqual([[idOf('b')], [idOf('c')]]);
  expect(await candidates(150, [idOf('b')])).toEqual([[idOf('c')], [idOf('a')]]);
  await host((store) => touchImageLocation(store, { siteId, imageId: idOf('c'), pinFor: 'wf_1' }));
  expect(await candidates(150)).toEqual([[idOf('b')], [idOf('a')]]);
});
