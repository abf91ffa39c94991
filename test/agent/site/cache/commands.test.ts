import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openState } from '#agent/site/store/state.ts';
import type { CacheImage } from '#contract/images.ts';
import { sha256 } from '../../../cache/testBench.ts';
import { type Bench, setUpBench, siteId } from '../bench/bench.ts';
import { imageText } from '../bench/loopbackSite.ts';

const launcher = path.join(import.meta.dirname, '../../../../bin/bcd');

/** One command as an operator gives it; its status and what it printed. */
async function cache({ configFile }: Bench, ...args: string[]) {
  const child = spawn(launcher, ['site', '--config', configFile, 'cache', ...args]);
  const [[status], out, err] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { status: status as number, out, err, json: () => JSON.parse(out) };
}

async function untilReady(bench: Bench, digest: string): Promise<void> {
  await expect
    .poll(async () => (await fetch(`${bench.httpUrl}/images/sha256/${digest}`)).status, { timeout: 10_000 })
    .toBe(200);
}

const fileOf = ({ stateDirectory }: Bench, digest: string) =>
  path.join(stateDirectory, 'images/v1/sha256', digest.slice(0, 2), digest);

/** An image that the centre names in its spec, and that no source has. */
function unreachableImage(bytes: Buffer): CacheImage {
  return {
    ref: 'stick@1',
    kind: 'os',
    digest: sha256(bytes),
    sizeBytes: bytes.length,
    format: 'raw',
    compression: 'none',
    sources: ['https://127.0.0.1:1/stick'],
  };
}

test('an operator looks at the cache, verifies an image whose bytes changed, and has it again', async () => {
  const bench = await setUpBench();
  const { digest } = bench.ramdisk;
  await bench.start();
  await untilReady(bench, digest);

  const listed = await cache(bench, 'list');
  expect(listed.out).toMatch(new RegExp(`ramdisk@1 +${digest.slice(0, 12)} +ready +22 B +desired`));
  expect((await cache(bench, 'show', digest.slice(0, 10), '--format', 'json')).json()).toMatchObject({
    ref: 'ramdisk@1',
    digest,
    state: 'ready',
    desired: true,
    pinned: false,
    sources: bench.ramdisk.sources,
  });

  expect((await cache(bench, 'verify', 'ramdisk@1')).status).toBe(0);
  const file = fileOf(bench, digest);
  await writeFile(file, imageText.toUpperCase());
  const damaged = await cache(bench, 'verify', 'ramdisk@1');
  expect(damaged.status).toBe(1);
  expect(damaged.err).toMatch(/damaged: its bytes on the disk changed.*quarantine/);
  expect(await readFile(path.join(bench.stateDirectory, 'images/v1/quarantine', digest), 'utf8')).toBe(
    imageText.toUpperCase(),
  );
  const told = () => bench.centre.events.filter(({ type }) => type === 'image.damaged');
  await bench.centre.until(() => told().length > 0);
  expect(told()).toMatchObject([{ ref: 'ramdisk@1', digest }]);

  expect((await cache(bench, 'pull', 'ramdisk@1')).status).toBe(0);
  expect(await readFile(file, 'utf8')).toBe(imageText);
  const metrics = await (await fetch(`${bench.adminUrl}/metrics`)).text();
  expect(metrics).toContain('\nbcd_cache_damaged 1\n');
}, 30_000);

test('what is desired is not evicted; a pin keeps what is not, over a restart, and is reported', async () => {
  const bench = await setUpBench();
  const { digest } = bench.ramdisk;
  await bench.start();
  await untilReady(bench, digest);
  expect((await cache(bench, 'evict', digest)).err).toContain('"reason":"desired"');

  expect((await cache(bench, 'pin', 'ramdisk@1')).status).toBe(0);
  bench.centre.setSpec(siteId, { cacheImages: [], nodes: [] });
  await expect
    .poll(async () => (await cache(bench, 'show', digest, '--format', 'json')).json(), { timeout: 10_000 })
    .toMatchObject({ desired: false, pinned: true, pinnedHere: true, pinnedBy: { uid: process.getuid?.() } });
  await bench.stop();
  await rm(path.join(bench.stateDirectory, 'images'), { recursive: true });
  await bench.start();
  await untilReady(bench, digest);
  const pinned = () =>
    bench.centre.reports.some(({ images }) => images?.some((one) => one.pinned && one.state === 'ready'));
  await bench.centre.until(pinned);

  expect((await cache(bench, 'evict', digest)).err).toContain('"reason":"pinned"');
  expect((await cache(bench, 'unpin', digest)).status).toBe(0);
  const dry = await cache(bench, 'gc', '--unused', '--dry-run', '--format', 'json');
  expect(dry.json()).toMatchObject({ images: [{ digest, ref: 'ramdisk@1' }], imageBytes: 22 });
  expect((await cache(bench, 'gc', '--unused')).out).toContain('1 images (22 B)');
  expect((await cache(bench, 'show', digest, '--format', 'json')).json()).toMatchObject({ state: 'absent' });
}, 30_000);

test('a site without an uplink takes an image from a file, and no other bytes', async () => {
  const bench = await setUpBench();
  // More than a request's body may have elsewhere.
  const bytes = randomBytes(3_000_000);
  const image = unreachableImage(bytes);
  const state = await openState(bench.stateDirectory);
  state.spec.replace({
    nodeId: siteId,
    role: 'site',
    generation: 1,
    site: { cacheImages: [image], nodes: [] },
  });
  state.close();
  await bench.centre.down();
  await bench.start();
  const file = path.join(bench.directory, 'stick.raw');

  await writeFile(file, randomBytes(bytes.length));
  const wrong = await cache(bench, 'import', file, '--digest', image.digest);
  expect(wrong.err).toContain('"reason":"digest-mismatch"');
  await writeFile(file, bytes.subarray(1));
  const short = await cache(bench, 'import', file, '--digest', image.digest);
  expect(short.err).toContain('"reason":"size-mismatch"');
  const unknown = await cache(bench, 'import', file);
  expect(unknown.err).toContain('"reason":"unknown-image"');
  expect((await fetch(`${bench.httpUrl}/images/sha256/${image.digest}`)).status).not.toBe(200);

  await writeFile(file, bytes);
  const right = await cache(bench, 'import', file, '--format', 'json');
  expect(right.err).toContain(`the sha256 of the file is ${image.digest}`);
  expect(right.json()).toMatchObject({ ref: 'stick@1', state: 'ready', sizeBytes: bytes.length });
  const served = await fetch(`${bench.httpUrl}/images/sha256/${image.digest}`);
  expect(Buffer.from(await served.arrayBuffer())).toEqual(bytes);
}, 30_000);

test('a file that cannot be read is the file’s fault, not the agent’s; and nothing else than a file is taken', async () => {
  const bench = await setUpBench();
  await bench.start();
  const refusals = await Promise.all([
    cache(bench, 'import', bench.stateDirectory),
    cache(bench, 'import', '/proc/self/mem'),
    cache(bench, 'import', '/dev/zero'),
    cache(bench, 'import', launcher, '--digest', 'abc'),
  ]);
  expect(refusals.map(({ err }) => err.split('\n')[0])).toEqual([
    expect.stringMatching(/INVALID_INPUT: cannot read .* \(EISDIR\)/),
    expect.stringMatching(/INVALID_INPUT: cannot read \/proc\/self\/mem \(EIO\)/),
    expect.stringMatching(/INVALID_INPUT: cannot read \/dev\/zero \(EINVAL\)/),
    expect.stringMatching(/INVALID_INPUT: --digest: must be 64 hex digits/),
  ]);
  const long = `${'l'.repeat(197)}@1`;
  expect((await cache(bench, 'show', long)).err).toContain('NOT_FOUND');
});

test('without an agent the command says where it looked and what to do', async () => {
  const bench = await setUpBench();
  const { status, err } = await cache(bench, 'list');
  expect(status).toBe(1);
  expect(err).toMatch(/UNAVAILABLE: no agent answers at .*bcd\.sock \(ENOENT\): start the agent/);
});
