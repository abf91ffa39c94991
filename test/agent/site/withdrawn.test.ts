import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { SiteSection } from '#contract/nodeSpec.ts';
import { type Bench, bootEntry, mac, nodeId, prepared, setUpBench, siteId } from './bench/bench.ts';
import { fetchScript, newMachine, tokenIn } from './bench/scriptedMachine.ts';

/** States a new desired state, and waits until the site has observed it. */
async function state({ centre }: Bench, site: Partial<SiteSection>): Promise<void> {
  const generation = (centre.polls.at(-1)?.observedGeneration ?? 0) + 1;
  centre.setSpec(siteId, { cacheImages: [], nodes: [{ nodeId, macs: [mac] }], ...site });
  await centre.until(() => centre.polls.at(-1)?.observedGeneration === generation);
}

async function imageAnswer({ httpUrl, ramdisk }: Bench, more = '') {
  const answer = await fetch(`${httpUrl}/images/sha256/${ramdisk.digest}${more}`);
  const text = await answer.text();
  return { status: answer.status, reason: answer.ok ? undefined : JSON.parse(text).error.details?.reason };
}

async function heldFiles({ stateDirectory }: Bench): Promise<string[]> {
  const entries = await readdir(path.join(stateDirectory, 'images', 'v1', 'sha256'), {
    recursive: true,
    withFileTypes: true,
  });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('a site that learns of a withdrawal serves the digest to nobody, boots nobody with it, and removes it', async () => {
  const bench = await prepared(await setUpBench());
  const { centre, ramdisk } = bench;
  expect(await imageAnswer(bench)).toMatchObject({ status: 200 });
  const token = tokenIn(await fetchScript(bench, mac));
  await state(bench, { withdrawn: [ramdisk.digest], bootEntries: [await bootEntry(bench)] });
  // 502 ends a deploy: 404 would send the ramdisk to the image's source.
  expect(await imageAnswer(bench)).toEqual({ status: 502, reason: 'withdrawn' });
  expect(await imageAnswer(bench, '/sections/linux')).toEqual({ status: 502, reason: 'withdrawn' });
  expect(await fetchScript(bench, mac)).not.toContain('railhead.token=');
  await expect.poll(() => heldFiles(bench)).toEqual([]);
  const prepare = await centre.order('boot.prepareRamdisk', nodeId, { entry: await bootEntry(bench) });
  expect(await centre.result(prepare)).toMatchObject({
    outcome: 'failed',
    error: { code: 'INVALID_STATE', details: { reason: 'withdrawn' } },
  });
  const machine = await newMachine(bench);
  await expect(machine.join(token, mac)).rejects.toThrow();
});

test('a boot entry from before the withdrawal leads to the disk, not to the withdrawn ramdisk', async () => {
  const bench = await prepared(await setUpBench());
  expect(await fetchScript(bench, mac)).toContain('railhead.token=');
  await state(bench, { withdrawn: [bench.ramdisk.digest] });
  expect(await fetchScript(bench, mac)).not.toContain('railhead.token=');
});

test('a site that starts again without its centre still refuses it', async () => {
  const bench = await prepared(await setUpBench());
  await state(bench, { withdrawn: [bench.ramdisk.digest] });
  await bench.stop();
  await bench.centre.down();
  await bench.start();
  expect(await imageAnswer(bench)).toEqual({ status: 502, reason: 'withdrawn' });
  expect(await fetchScript(bench, mac)).not.toContain('railhead.token=');
  await bench.centre.up();
});

test('a withdrawal that is undone brings the image back', async () => {
  const bench = await prepared(await setUpBench());
  const { ramdisk } = bench;
  await state(bench, { withdrawn: [ramdisk.digest] });
  await state(bench, { withdrawn: [], cacheImages: [ramdisk] });
  await expect.poll(() => imageAnswer(bench)).toMatchObject({ status: 200 });
});
