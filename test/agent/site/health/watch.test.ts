import { expect, onTestFinished, test } from 'vitest';
import type { DriveOptions, MachineDriver } from '#agent/site/drivers/driver.ts';
import { watchHealth } from '#agent/site/health/watch.ts';
import type { Happening } from '#agent/site/store/events.ts';
import { silentLog } from '#base/log.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { healthOf } from '#redfish/health.ts';

/** A site with one BMC, asked every few milliseconds, that tells what `say` says. */
function watched(
  say: (options: DriveOptions) => BmcHealth | Promise<BmcHealth>,
  bmc: SiteNode['bmc'] = { driver: 'ipmi', address: 'ipmi://192.0.2.1' },
  everyMs = 5,
) {
  const events: Happening[] = [];
  const places: unknown[] = [];
  let asked = 0;
  let heard = Promise.withResolvers<void>();
  let node: SiteNode = { nodeId: 'node-1', macs: ['52:54:00:00:00:01'], ...(bmc && { bmc }) };
  const health = async (options: DriveOptions) => {
    asked++;
    return say(options);
  };
  const driver = { health } as unknown as MachineDriver;
  const watch = watchHealth({
    state: {
      spec: { current: () => ({ site: { nodes: [node] } }) },
      bmcLogs: { find: () => undefined, retain: () => {} },
      events: { add: (event: Happening) => void events.push(event) },
    } as never,
    bmcs: {
      use: async (one, work) => {
        places.push(one.bmc?.address);
        return work(driver);
      },
    },
    everyMs,
    logEveryMs: 60_000,
    onEvent: () => {
      heard.resolve();
      heard = Promise.withResolvers();
    },
    log: silentLog(),
  });
  onTestFinished(() => watch.close());
  return {
    ...{ events, next: () => heard.promise, asked: () => asked },
    ...{ places, lastOf: () => watch.lastOf('node-1') },
    look: () => watch.look('node-1'),
    rebind: (other: SiteNode['bmc']) => {
      node = { ...node, ...(other && { bmc: other }) };
    },
    close: () => watch.close(),
  };
}

test('what a BMC says is told once, and again when it changes', async () => {
  let said: BmcHealth = { health: 'OK', power: 'on', faults: [] };
  const { events, next, asked } = watched(() => said);
  await next();
  await expect.poll(asked).toBeGreaterThan(4);
  said = { health: 'Critical', power: 'on', faults: ['drive fault'] };
  await next();
  expect(events).toMatchObject([
    { type: 'bmc.health', nodeId: 'node-1', text: 'the BMC says OK, power on' },
    { text: 'the BMC says Critical, power on: drive fault', health: said },
  ]);
});

test('one answer that is lost is no news, two are', async () => {
  let failures = 0;
  const { events, next } = watched(() => {
    failures++;
    throw new Error('no answer');
  });
  await next();
  expect(failures).toBeGreaterThanOrEqual(2);
  expect(events).toMatchObject([{ health: { health: 'Unreachable', faults: ['no answer'] } }]);
});

test('a BMC that does not answer does not hold up the end, and is not called lost by it', async () => {
  const { events, asked, close } = watched(
    ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  await expect.poll(asked).toBe(1);
  await close();
  expect(events).toEqual([]);
});

test('a BMC that tells a hundred things is asked at once, and once', async () => {
  const ipmi = { driver: 'ipmi', address: 'ipmi://192.0.2.1' } as const;
  const { next, asked, look } = watched(() => ({ health: 'OK', power: 'on', faults: [] }), ipmi, 3_600_000);
  for (let event = 0; event < 100; event++) look();
  await next();
  for (let event = 0; event < 100; event++) look();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(asked()).toBe(1);
});

test('a BMC in the place of another is asked at once and told whatever it says; what the old one still says is not', async () => {
  const old = { driver: 'ipmi', address: 'ipmi://192.0.2.1', credentialRef: 'secret://bmc/old' } as const;
  const late = Promise.withResolvers<BmcHealth>();
  const answers = [Promise.resolve<BmcHealth>({ health: 'OK', faults: [] }), late.promise];
  const say = () => answers.shift() ?? { health: 'OK' as const, faults: [] };
  const { events, places, next, rebind, asked, lastOf } = watched(say, old, 200);
  await next();
  await expect.poll(asked).toBe(2);
  rebind({ ...old, address: 'ipmi://192.0.2.2' });
  await expect.poll(asked).toBe(3);
  expect(places.at(-1)).toBe('ipmi://192.0.2.2');
  late.resolve({ health: 'Critical', faults: ['of the old one'] });
  await expect.poll(() => events.length).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(events).toMatchObject([{ health: { health: 'OK' } }, { health: { health: 'OK' } }]);
  expect(lastOf()).toEqual({ health: 'OK', faults: [] });
  rebind({ ...old, address: 'ipmi://192.0.2.2', credentialRef: 'secret://bmc/node-1' });
  const before = asked();
  await expect.poll(asked).toBeGreaterThan(before);
  expect(events).toHaveLength(2);
});

test('a machine without a BMC is not asked', async () => {
  const { asked } = watched(() => ({ health: 'OK', faults: [] }), { driver: 'manual' });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(asked()).toBe(0);
});

test.each([
  [
    { Status: { Health: 'OK', HealthRollup: 'Warning' }, PowerState: 'On' },
    { health: 'Warning', power: 'on', faults: [] },
  ],
  [
    { Status: { Health: 'Critical', Conditions: [{ Message: 'PSU 2 lost input' }, 7] } },
    { health: 'Critical', faults: ['PSU 2 lost input'] },
  ],
  [{ PowerState: 'PoweringOn' }, { health: 'Unknown', faults: [] }],
])('a system that says %j is %j', (system, health) => {
  expect(healthOf(system as never)).toEqual(health);
});
