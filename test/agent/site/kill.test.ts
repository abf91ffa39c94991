import { expect, test, vi } from 'vitest';
import type { FakeBmc, Fault } from '../../fakes/fakeBmc.ts';
import { bootEntry, nodeId, setUpBench } from './bench/bench.ts';
import { startSiteBmc } from './bench/loopbackSite.ts';
import { type SiteProcess, spawnSite } from './bench/siteProcess.ts';

// Each test starts two or three processes, on a host that may be busy with virtual machines.
vi.setConfig({ testTimeout: 60_000 });

/** A site whose node has a BMC. */
async function setUp() {
  const bmcs: FakeBmc[] = [];
  const bench = await setUpBench(async (site) => {
    const { fake, binding } = await startSiteBmc(site);
    bmcs.push(fake);
    return { bmc: binding };
  });
  return { bench, fake: bmcs[0] as FakeBmc };
}

/** Kills the agent at the first request that `when` picks, before or after the BMC has carried it out. */
function killAt(
  site: () => SiteProcess,
  method: string,
  ending: string,
  moment: 'before the act' | 'after the act',
): Fault {
  let armed = true;
  return (request, bmc) => {
    if (!armed || request.method !== method || !request.path.endsWith(ending)) return undefined;
    armed = false;
    if (moment === 'after the act') bmc.answerRightly(request);
    site().kill();
    return 'hang up';
  };
}

test('power on: killed before the act, it is unknown and not done', async () => {
  const { bench, fake } = await setUp();
  const site = await spawnSite(bench.configFile);
  fake.faults.push(killAt(() => site, 'POST', 'ComputerSystem.Reset', 'before the act'));
  const on = await bench.centre.order('power.setPower', nodeId, { action: 'on' });
  await site.ended;
  await spawnSite(bench.configFile);
  expect(await bench.centre.result(on)).toMatchObject({
    outcome: 'unknown',
    error: { details: { power: 'off' } },
  });
  expect(fake.resets()).toHaveLength(1);
  expect(fake.system.PowerState).toBe('Off');
});

test('power on: killed after the act, it is settled by looking', async () => {
  const { bench, fake } = await setUp();
  const site = await spawnSite(bench.configFile);
  fake.faults.push(killAt(() => site, 'POST', 'ComputerSystem.Reset', 'after the act'));
  const on = await bench.centre.order('power.setPower', nodeId, { action: 'on' });
  await site.ended;
  await spawnSite(bench.configFile);
  expect(await bench.centre.result(on)).toMatchObject({
    outcome: 'succeeded',
    result: { power: 'on', settled: true },
  });
  expect(fake.resets()).toHaveLength(1);
});

test('power reset: killed after the act, it is unknown and not done twice', async () => {
  const { bench, fake } = await setUp();
  fake.system.PowerState = 'On';
  const site = await spawnSite(bench.configFile);
  fake.faults.push(killAt(() => site, 'POST', 'ComputerSystem.Reset', 'after the act'));
  const reset = await bench.centre.order('power.setPower', nodeId, { action: 'reset' });
  await site.ended;
  await spawnSite(bench.configFile);
  expect(await bench.centre.result(reset)).toMatchObject({ outcome: 'unknown' });
  expect(fake.resets()).toHaveLength(1);
});

test('boot device: killed after the act, it is set again and the result says so', async () => {
  const { bench, fake } = await setUp();
  const site = await spawnSite(bench.configFile);
  fake.faults.push(killAt(() => site, 'PATCH', '/Systems/1', 'after the act'));
  const device = await bench.centre.order('management.setBootDevice', nodeId, { device: 'pxe' });
  await site.ended;
  await spawnSite(bench.configFile);
  expect(await bench.centre.result(device)).toMatchObject({
    outcome: 'succeeded',
    result: { device: 'pxe', repeated: true },
  });
  expect(fake.boot.BootSourceOverrideTarget).toBe('Pxe');
});

test('power read: killed while it looks, it looks again', async () => {
  const { bench, fake } = await setUp();
  const site = await spawnSite(bench.configFile);
  fake.faults.push(killAt(() => site, 'GET', '/Systems/1', 'before the act'));
  const read = await bench.centre.order('power.getPower', nodeId, {});
  await site.ended;
  await spawnSite(bench.configFile);
  expect(await bench.centre.result(read)).toMatchObject({
    outcome: 'succeeded',
    result: { power: 'off', repeated: true },
  });
});

test('a boot entry and its removal: killed as soon as they are asked for, they have one result each', async () => {
  const { bench } = await setUp();
  const { centre } = bench;
  const site = await spawnSite(bench.configFile);
  const prepare = await centre.order('boot.prepareRamdisk', nodeId, { entry: await bootEntry(bench) });
  site.kill();
  await site.ended;
  const second = await spawnSite(bench.configFile);
  expect(await centre.result(prepare)).toMatchObject({ outcome: 'succeeded' });
  const cleanUp = await centre.order('boot.cleanUp', nodeId, {});
  second.kill();
  await second.ended;
  await spawnSite(bench.configFile);
  expect(await centre.result(cleanUp)).toMatchObject({ outcome: 'succeeded' });
  // A kill between the centre's answer and our note of it tells a result twice, and the same.
  expect(new Set(centre.results.map((result) => JSON.stringify(result))).size).toBe(2);
});

test('a second agent on the same state directory is refused', async () => {
  const { bench } = await setUp();
  await bench.start();
  await expect(spawnSite(bench.configFile)).rejects.toThrow('CONFLICT: another agent runs in');
});
