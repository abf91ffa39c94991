import { expect, test } from 'vitest';
import { type Bench, mac, nodeId, setUpBench, siteId } from './bench/bench.ts';
import { leaseTo } from './bench/leases.ts';
import { fetchScript, newMachine } from './bench/scriptedMachine.ts';

/** The site's node as the centre lets it boot an ISO, which is the bench's image. */
function isoEntry({ centre, ramdisk: { ref, digest } }: Bench): Promise<string> {
  return centre.signEntry({ siteId, nodeId, macs: [mac], iso: { ref, digest } });
}

async function withIso(): Promise<Bench> {
  const bench = await setUpBench();
  await bench.start();
  await leaseTo(bench, mac);
  const insert = await bench.centre.order('media.insert', nodeId, { entry: await isoEntry(bench) });
  expect(await bench.centre.result(insert)).toMatchObject({
    outcome: 'succeeded',
    result: { by: 'sanboot' },
  });
  return bench;
}

test('a machine with an ISO entry boots it from the cache, also while the centre is away and after a restart', async () => {
  const bench = await withIso();
  const command = () => `sanboot --no-describe ${bench.httpUrl}/images/sha256/${bench.ramdisk.digest} `;
  expect(await fetchScript(bench, mac)).toContain(command());
  await bench.centre.down();
  await bench.stop();
  await bench.start();
  await leaseTo(bench, mac);
  expect(await fetchScript(bench, mac)).toContain(command());
});

test('nobody gets a boot token by an ISO entry', async () => {
  const bench = await withIso();
  expect(await fetchScript(bench, mac)).not.toContain('railhead.token=');
  const { client } = await newMachine(bench);
  const asked = client.post('/v1/token', { mac }, { timeoutMs: 5_000 });
  await expect(asked).rejects.toMatchObject({ code: 'NOT_FOUND', details: { reason: 'no-entry' } });
});

test('an ISO that the desired state states is served, until it is stated no more or withdrawn', async () => {
  const bench = await withIso();
  const { centre, ramdisk } = bench;
  const state = async (more: { withdrawn?: string[]; bootEntries: string[] }) => {
    const generation = (centre.polls.at(-1)?.observedGeneration ?? 0) + 1;
    centre.setSpec(siteId, { cacheImages: [ramdisk], nodes: [{ nodeId, macs: [mac] }], ...more });
    await centre.until(() => centre.polls.at(-1)?.observedGeneration === generation);
  };
  await state({ bootEntries: [] });
  expect(await fetchScript(bench, mac)).not.toContain(ramdisk.digest);
  const stated = await isoEntry(bench);
  await state({ bootEntries: [stated] });
  await expect.poll(() => fetchScript(bench, mac)).toContain(`/images/sha256/${ramdisk.digest}`);
  await state({ bootEntries: [stated], withdrawn: [ramdisk.digest] });
  expect(await fetchScript(bench, mac)).not.toContain(ramdisk.digest);
});
