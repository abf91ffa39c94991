import { afterAll, beforeAll, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { sitesThatWant } from '#central/siteCaches/desired.ts';
import type { NodeSpec } from '#contract/nodeSpec.ts';
import {
  mustRegister,
  newSigner,
  newSite,
  osImage,
  startTestCentre,
  type TestCentre,
  type TestSigner,
} from '../centre.ts';
import { agentClient, joinAs, pollOnce } from '../fakeSite.ts';

let centre: TestCentre;
let platform: TestSigner;
let sites = 0;

beforeAll(async () => {
  centre = await startTestCentre();
  platform = await newSigner(centre.directory);
});
afterAll(() => centre.close());

/** A site that has joined, and a pool there. */
async function siteWithPool(policy: object, tenantId = 'root') {
  const { agentsUrl } = centre.central;
  const { siteId, joinToken } = await newSite(centre.directory, `site-${++sites}`);
  const credentials = await joinAs(agentsUrl, 'site', siteId, joinToken);
  const client = agentClient(agentsUrl, credentials.wellKnown.servingCa, credentials);
  const created = await centre.call<{ poolId: string }>('pools.create', { tenantId, siteId, policy });
  if (created.error !== undefined) throw new Error(created.error.message);
  /** The desired state that is newer than this generation, waited for. */
  const specAfter = async (generation = 0, waitSeconds = 15): Promise<NodeSpec | undefined> =>
    (await pollOnce({ client }, { observedGeneration: generation, taken: [], waitSeconds })).spec;
  return { siteId, poolId: created.data.poolId, tenantId, specAfter, close: () => client.close() };
}

const refs = (spec: NodeSpec | undefined) => spec?.site?.cacheImages.map(({ ref }) => ref);
const digest = (letter: string) => letter.repeat(64);
const register = (ref: string, letter: string, more: object = {}) =>
  mustRegister(centre.call, platform.signed(osImage({ ref, sha256: digest(letter), ...more })));

test("a pool's policy.prewarmImages become its site's cacheImages, only those that verify", async () => {
  await register('good@1', '1', { sizeBytes: 7 });
  await mustRegister(centre.call, osImage({ ref: 'unsigned@1', sha256: digest('2') }));
  const site = await siteWithPool({ prewarmImages: ['good@1', 'unsigned@1', 'absent@1'] });
  expect((await site.specAfter())?.site?.cacheImages).toEqual([
    {
      ref: 'good@1',
      kind: 'os',
      private: true,
      digest: digest('1'),
      sizeBytes: 7,
      format: 'raw',
      compression: 'zstd',
      sources: ['https://images.example.com/demo-os.raw.zst'],
      signature: expect.any(String),
      signerKey: platform.publicKey,
    },
  ]);
  await site.close();
});

test("a pool's ramdisk refs, one per architecture, are always among them; an OS image is no ramdisk", async () => {
  await register('ramdisk-x86@1', '3', { kind: 'ramdisk' });
  await register('ramdisk-arm@1', '4', { kind: 'ramdisk' });
  await register('only-os@1', '5');
  const ramdisk = { x86_64: 'ramdisk-x86@1', aarch64: 'ramdisk-arm@1' };
  const site = await siteWithPool({ prewarmImages: ['only-os@1'], ramdisk });
  expect(refs(await site.specAfter())).toEqual(['ramdisk-x86@1', 'ramdisk-arm@1', 'only-os@1']);
  const odd = await siteWithPool({ ramdisk: { x86_64: 'only-os@1' } });
  expect(refs(await odd.specAfter())).toEqual([]);
  await site.close();
  await odd.close();
});

test('register refreshes the desired state of the sites whose pools pre-warm the ref', async () => {
  const site = await siteWithPool({ prewarmImages: ['coming@1'] });
  const first = await site.specAfter();
  expect(refs(first)).toEqual([]);
  const waiting = site.specAfter(first?.generation);
  await register('coming@1', '6');
  expect(refs(await waiting)).toEqual(['coming@1']);
  await site.close();
});

test('promote refreshes the desired state of the sites whose pools pre-warm the ref', async () => {
  const { imageId } = await register('shared-soon@1', '7');
  const site = await siteWithPool({ prewarmImages: ['shared-soon@1'] }, 'acme');
  const first = await site.specAfter();
  expect(refs(first)).toEqual([]);
  const waiting = site.specAfter(first?.generation);
  await centre.call('images.promote', { tenantId: 'root', imageId });
  const after = await waiting;
  expect(refs(after)).toEqual(['shared-soon@1']);
  expect(after?.site?.cacheImages[0]).not.toHaveProperty('private');
  await site.close();
});

test("a ref means the tenant's own image first, once there is one", async () => {
  const { imageId } = await register('own-first@1', '8');
  await centre.call('images.promote', { tenantId: 'root', imageId });
  const site = await siteWithPool({ prewarmImages: ['own-first@1'] }, 'acme');
  const first = await site.specAfter();
  expect(first?.site?.cacheImages).toMatchObject([{ digest: digest('8') }]);
  const waiting = site.specAfter(first?.generation);
  await register('own-first@1', '9', { tenantId: 'acme' });
  expect((await waiting)?.site?.cacheImages).toMatchObject([{ digest: digest('9') }]);
  await site.close();
});

test('only sites that want a ref are refreshed for it, as a ramdisk too, whatever else its text matches', async () => {
  const wanting = await siteWithPool({ prewarmImages: ['exact_ref@1'] });
  const booting = await siteWithPool({ ramdisk: { aarch64: 'exact_ref@1' } });
  const other = await siteWithPool({ prewarmImages: ['exact-ref@1', 'exact_ref@10'] });
  const quoted = await siteWithPool({ prewarmImages: ['a"b\\c@1'] });
  const found = (ref: string) => onHost(centre.directory, ({ store }) => sitesThatWant(store, ref));
  expect((await found('exact_ref@1')).toSorted()).toEqual([wanting.siteId, booting.siteId].toSorted());
  expect(await found('a"b\\c@1')).toEqual([quoted.siteId]);
  for (const site of [wanting, booting, other, quoted]) await site.close();
});

test("a changed policy refreshes the pool's site, and of two changes at once the second is refused", async () => {
  await register('later@1', 'a');
  const site = await siteWithPool({});
  const first = await site.specAfter();
  const waiting = site.specAfter(first?.generation);
  const { tenantId, poolId, siteId } = site;
  const policy = { prewarmImages: ['later@1'], ramdisk: {} };
  const update = (ifVersion?: number) =>
    centre.call('pools.update', { tenantId, poolId, policy, ...(ifVersion !== undefined && { ifVersion }) });
  const { data } = await update(1);
  expect(data).toMatchObject({ poolId, siteId, class: 'metal-host', policy, version: 2 });
  expect(refs(await waiting)).toEqual(['later@1']);
  expect(await update(1)).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { path: 'ifVersion', reason: 'version', version: 2 } },
  });
  expect((await update()).data).toMatchObject({ version: 3 });
  expect((await centre.call('pools.get', { tenantId, poolId })).data).toMatchObject({ policy, version: 3 });
  await site.close();
});

test("pools are listed by tenant, and another tenant's are NOT_FOUND", async () => {
  const { poolId, close } = await siteWithPool({}, 'lister');
  const list = (tenantId: string) => centre.call<{ items: object[] }>('pools.list', { tenantId });
  expect((await list('lister')).data.items).toMatchObject([{ poolId, version: 1 }]);
  expect((await list('stranger')).data.items).toEqual([]);
  const foreign = { tenantId: 'stranger', poolId };
  for (const [method, input] of [
    ['pools.get', foreign],
    ['pools.update', { ...foreign, policy: {} }],
  ] as const)
    expect(await centre.call(method, input)).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } });
  await close();
});

test.each([
  ['policy.prewarmImages[0]', { prewarmImages: ['no-version'] }],
  ['policy.ramdisk.riscv64', { ramdisk: { riscv64: 'x@1' } }],
  ['policy.ramdisk.x86_64', { ramdisk: { x86_64: '' } }],
])('a policy with a bad %s is refused', async (path, policy) => {
  const input = { tenantId: 'root', siteId: 'site_x', policy };
  expect(await centre.call('pools.create', input)).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path } },
  });
});

test("no tenant's image takes the place of a platform ramdisk of the same digest, or of its sources", async () => {
  const acme = await newSigner(centre.directory, 'acme', 'acme-builds');
  const artifact = { sha256: digest('e'), compression: 'none' } as const;
  const theirs = { ...artifact, tenantId: 'acme' };
  const source = (name: string) => `https://${name}.example.com/artifact`;
  await mustRegister(
    centre.call,
    acme.signed(osImage({ ...theirs, ref: 'mine@1', source: source('theirs') })),
  );
  await register('shown@1', 'e', { ...artifact, kind: 'ramdisk', source: source('platform') });
  // The same signature, which says nothing of the source.
  await register('shown@1', 'e', { ...theirs, kind: 'ramdisk', source: source('copied') });
  const site = await siteWithPool({ prewarmImages: ['mine@1'], ramdisk: { x86_64: 'shown@1' } }, 'acme');
  const policy = { ramdisk: { x86_64: 'shown@1' } };
  await centre.call('pools.create', { tenantId: 'root', siteId: site.siteId, policy });
  expect((await site.specAfter())?.site?.cacheImages).toMatchObject([
    { ref: 'shown@1', kind: 'ramdisk', sources: ['platform', 'copied', 'theirs'].map(source) },
  ]);
  await site.close();
});

test("of the public images of one ref the platform's counts", async () => {
  const acme = await newSigner(centre.directory, 'acme', 'acme-publishes');
  const first = await mustRegister(
    centre.call,
    acme.signed(osImage({ tenantId: 'acme', ref: 'both@1', sha256: digest('b') })),
  );
  await centre.call('images.promote', { tenantId: 'acme', imageId: first.imageId });
  const { imageId } = await register('both@1', 'c');
  await centre.call('images.promote', { tenantId: 'root', imageId });
  const site = await siteWithPool({ prewarmImages: ['both@1'] }, 'beta');
  expect((await site.specAfter())?.site?.cacheImages).toMatchObject([{ digest: digest('c') }]);
  await site.close();
});
