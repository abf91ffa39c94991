import { expect, test } from 'vitest';
import { RailheadError } from '#contract/errors.ts';
import { digest, type ExecutorBench, nodeId, pendingImage, setUpExecutor } from '../bench/executorBench.ts';

const cached = { ref: 'installer@1', digest };
const [http, https] = ['http://192.0.2.1:8080', 'https://192.0.2.1:8443'];

/** A site whose cache holds the image, as the centre told it. */
async function site(options: Parameters<typeof setUpExecutor>[0] & { private?: true } = {}) {
  const bench = await setUpExecutor(options);
  const image = { ...cached, kind: 'os', format: 'iso', compression: 'none' } as const;
  const visible = options.private ? { private: true } : {};
  bench.state.cacheCatalog.learn([{ ...image, sources: [], ...visible }], Date.now());
  return bench;
}

async function mount(bench: ExecutorBench) {
  const insert = bench.journal('media.insert', { cached });
  bench.start();
  return bench.result(insert);
}

const tokenOf = (url: unknown) => /\/media\/([0-9a-f]{32})\.iso$/.exec(String(url))?.[1] ?? '';
const granted = (bench: ExecutorBench, url: unknown) => bench.state.mediaUrls.find(tokenOf(url));

test('the BMC mounts a URL of the site that nobody else knows, good until the eject', async () => {
  const bench = await site();
  const { outcome, result } = await mount(bench);
  expect({ outcome, result }).toEqual({
    outcome: 'succeeded',
    result: {
      by: 'virtual-media',
      from: 'cache',
      url: expect.stringMatching(/^http:.*\/media\/\w{32}\.iso$/),
    },
  });
  expect(bench.machine.calls).toEqual([`insertMedia ${result?.url}`]);
  expect(granted(bench, result?.url)).toEqual({ nodeId, digest });
  // The same again leaves the drive as it is.
  expect((await mount(bench)).result?.url).toBe(result?.url);

  const eject = bench.journal('media.eject', {});
  bench.start();
  expect(await bench.result(eject)).toMatchObject({ outcome: 'succeeded' });
  expect(granted(bench, result?.url)).toBeUndefined();
});

test('the BMC is asked only once the cache holds the image', async () => {
  const { asked, ready } = pendingImage();
  const bench = await site({ ready });
  const insert = bench.journal('media.insert', { cached });
  const executor = bench.start();
  await asked;
  expect(bench.machine.calls).toEqual([]);
  executor.cancel([insert]);
  expect(await bench.result(insert)).toMatchObject({ error: { details: { reason: 'cancelled' } } });
  expect(bench.machine.calls).toEqual([]);
});

test('an image that comes too late is not mounted later, and keeps no other operation waiting', async () => {
  const { ready } = pendingImage();
  const bench = await site({ ready });
  const expiresAt = new Date(Date.now() + 3_200).toISOString();
  const insert = bench.journal('media.insert', { cached }, { expiresAt });
  const next = bench.journal('power.getPower', {});
  bench.start();
  expect(await bench.result(insert)).toMatchObject({
    error: { code: 'UNAVAILABLE', details: { reason: 'image-late', digest } },
  });
  expect(await bench.result(next)).toMatchObject({ outcome: 'succeeded' });
  expect(bench.machine.calls).not.toContainEqual(expect.stringContaining('insertMedia'));
});

test('a BMC that refuses http is given the https URL', async () => {
  const bench = await site({ mediaPlaces: [http, https] });
  bench.machine.refusedSchemes = ['http'];
  const { result } = await mount(bench);
  expect(result?.url).toMatch(/^https:\/\/192\.0\.2\.1:8443\/media\//);
});

test('what is no word on the URL is the end of it', async () => {
  const bench = await site({ mediaPlaces: [http, https] });
  bench.machine.failWith = new RailheadError('UNSUPPORTED', 'no drive', { reason: 'virtual-media' });
  expect(await mount(bench)).toMatchObject({ error: { details: { reason: 'virtual-media' } } });
  expect(bench.machine.calls).toHaveLength(1);
});

test('a private image goes by https alone, and without it not at all', async () => {
  const withTls = await site({ private: true, mediaPlaces: [http, https] });
  expect((await mount(withTls)).result?.url).toMatch(/^https:/);
  expect(withTls.machine.calls).toHaveLength(1);

  const plain = await site({ private: true, mediaPlaces: [http] });
  expect(await mount(plain)).toMatchObject({
    error: { code: 'UNSUPPORTED', details: { reason: 'private' } },
  });
  expect(plain.machine.calls).toEqual(['insertedMedia']);
});

test('without https, a BMC that has no virtual drive says so: then the machine boots the ISO in another way', async () => {
  const bench = await site({ private: true, mediaPlaces: [http] });
  bench.machine.failWith = new RailheadError('UNSUPPORTED', 'no drive', { reason: 'virtual-media' });
  expect(await mount(bench)).toMatchObject({ error: { details: { reason: 'virtual-media' } } });
});

test('another medium ends the URL of the one before', async () => {
  const bench = await site();
  const { result } = await mount(bench);
  const insert = bench.journal('media.insert', { url: 'https://images.example.com/rescue.iso' });
  bench.start();
  await bench.result(insert);
  expect(granted(bench, result?.url)).toBeUndefined();
});

test('another medium that the BMC does not take leaves it the URL of the one before, which it may still read', async () => {
  const bench = await site();
  const { result } = await mount(bench);
  const other = { ref: 'installer@2', digest: 'c'.repeat(64) };
  const kind = { kind: 'os', format: 'iso', compression: 'none' } as const;
  bench.state.cacheCatalog.learn([{ ...other, ...kind, sources: [] }], Date.now());
  const mountOther = () => {
    const insert = bench.journal('media.insert', { cached: other });
    bench.start();
    return bench.result(insert);
  };
  bench.machine.failWith = new RailheadError('DRIVER_ERROR', 'busy', { reason: 'busy' });
  expect(await mountOther()).toMatchObject({ outcome: 'failed' });
  expect(granted(bench, result?.url)).toEqual({ nodeId, digest });
  delete bench.machine.failWith;
  const second = await mountOther();
  expect(granted(bench, result?.url)).toBeUndefined();
  expect(granted(bench, second.result?.url)).toMatchObject({ digest: other.digest });
});

test('the URL of a node that left the site ends', async () => {
  const bench = await site();
  const { result } = await mount(bench);
  bench.state.mediaUrls.keepOnly(new Set([nodeId]));
  expect(granted(bench, result?.url)).toEqual({ nodeId, digest });
  bench.state.mediaUrls.keepOnly(new Set());
  expect(granted(bench, result?.url)).toBeUndefined();
});
