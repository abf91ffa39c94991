import { afterEach, beforeEach, expect, test } from 'vitest';
import { SeenMachines, type SeenMachinesOptions } from '#agent/site/discovery/seenMachines.ts';
import { migrations } from '#agent/site/store/schema.ts';
import { silentLog } from '#base/log.ts';
import { openSqlite, type Sqlite } from '#base/sqlite.ts';
import type { Sighting } from '#bootserver/sighting.ts';
import { mostMacs } from '#contract/seenMachine.ts';

const [a, b] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const uuid = '00112233-4455-6677-8899-aabbccddeeff';
const swapped = '33221100-5544-7766-8899-aabbccddeeff';
const nodes = new Map<string, string>();
let database: Sqlite;
let now: number;
let open: SeenMachines[];

beforeEach(() => {
  database = openSqlite(':memory:', migrations);
  now = Date.parse('2026-01-01T00:00:00Z');
  open = [];
  nodes.clear();
});

afterEach(() => {
  for (const seen of open) seen.close();
  database.close();
});

function machines(limits: SeenMachinesOptions['limits'] = {}): SeenMachines {
  const nodeOf = (mac: string) => nodes.get(mac);
  const seen = new SeenMachines({ database, nodeOf, log: silentLog(), now: () => now, limits });
  open.push(seen);
  return seen;
}

function sighting(mac: string, more: Partial<Sighting> = {}): Sighting {
  return { mac, isNewBoot: false, ...more };
}

const macNumber = (index: number) =>
  `02:00:00:01:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`;

test('case 26: a UUID in either byte order is one machine', () => {
  const seen = machines();
  seen.see(sighting(a, { uuid: swapped, isNewBoot: true }));
  seen.see(sighting(b, { uuid }));
  expect(seen.all()).toMatchObject([{ machineId: a, macs: [a, b], uuid, boots: 1 }]);
});

test('case 28: another port that asks for the script belongs to the machine that booted', () => {
  const seen = machines();
  seen.see(sighting(a, { isNewBoot: true, client: 'uefi-pxe' }));
  seen.see(sighting(b, { isNewBoot: true }));
  seen.see(sighting(a, { uuid }));
  seen.see(sighting(b, { uuid, architecture: 'x86_64' }));
  expect(seen.all()).toMatchObject([{ machineId: a, macs: [a, b], boots: 2, architecture: 'x86_64' }]);
  const again = sighting(b, { isNewBoot: true });
  seen.see(again);
  expect(seen.all()).toMatchObject([{ boots: 3 }]);
});

test("cases 26, 28: who names a node's UUID gets nothing into the node's record, and does not part the node's own ports", () => {
  const c = '02:00:00:00:00:0c';
  nodes.set(a, 'node-a').set(b, 'node-a');
  const seen = machines();
  seen.see(sighting(a, { uuid, architecture: 'x86_64', isNewBoot: true }));
  const [before] = seen.all();
  seen.see(
    sighting(c, { uuid: swapped, architecture: 'aarch64', relay: { address: '10.9.9.9' }, isNewBoot: true }),
  );
  expect(seen.all()).toMatchObject([{ macs: [c], uuid: swapped }, { ...before }]);
  seen.see(sighting(b, { uuid }));
  expect(seen.all()).toMatchObject([{ machineId: a, macs: [a, b], boots: 1 }, { macs: [c] }]);
});

test('case 26: boards with one UUID and different serial numbers are different machines', () => {
  const seen = machines();
  seen.see(sighting(a, { uuid, serial: 'S1' }));
  seen.see(sighting(b, { uuid, serial: 'S2' }));
  expect(seen.all().map(({ macs }) => macs)).toEqual([[b], [a]]);
});

test('boards that share a UUID are not one machine when they are different nodes, or too many', () => {
  nodes.set(a, 'node-a').set(b, 'node-b');
  const seen = machines();
  seen.see(sighting(a, { uuid }));
  seen.see(sighting(b, { uuid }));
  expect(seen.all()).toHaveLength(2);
  for (let index = 0; index < 40; index++) seen.see(sighting(macNumber(index), { uuid }));
  expect(Math.max(...seen.all().map(({ macs }) => macs.length))).toBeLessThanOrEqual(mostMacs);
});

test('what was seen survives a restart, the united record alone', () => {
  const first = machines();
  first.see(sighting(a, { isNewBoot: true, relay: { address: '10.0.0.1', circuitId: 'ge-0/0/7' } }));
  first.see(sighting(b));
  first.flush();
  first.see(sighting(a, { uuid }));
  first.see(sighting(b, { uuid }));
  first.flush();
  expect(machines().all()).toEqual(first.all());
  expect(first.all()).toMatchObject([{ macs: [a, b], relay: { circuitId: 'ge-0/0/7' } }]);
});

test('a flood of strangers displaces the oldest strangers and never a node', () => {
  nodes.set(a, 'node-a');
  const seen = machines({ strangers: 100, newStrangers: { perSecond: 1, burst: 1000 } });
  seen.see(sighting(a, { isNewBoot: true }));
  seen.see(sighting(b));
  for (let index = 0; index < 500; index++) {
    now += 1;
    seen.see(sighting(macNumber(index)));
  }
  const macs = seen.all().map(({ machineId }) => machineId);
  expect(macs).toContain(a);
  expect(macs).not.toContain(b);
  expect(macs).toContain(macNumber(499));
  expect(macs.length).toBeLessThanOrEqual(101);
});

test('new strangers beyond the rate are passed over and counted; a node is seen all the same', () => {
  nodes.set(a, 'node-a');
  const seen = machines({ newStrangers: { perSecond: 0.001, burst: 10 } });
  for (let index = 0; index < 50; index++) seen.see(sighting(macNumber(index)));
  seen.see(sighting(a));
  expect(seen.all()).toHaveLength(11);
  expect(seen.ignored).toBe(40);
});

test('a machine that is merely there is told once a minute, what changed at once', () => {
  const seen = machines();
  seen.see(sighting(a, { isNewBoot: true }));
  seen.told(seen.untold(10));
  now += 5000;
  seen.see(sighting(a));
  expect(seen.untold(10)).toEqual([]);
  seen.see(sighting(a, { isNewBoot: true }));
  expect(seen.untold(10)).toMatchObject([{ boots: 2 }]);
  seen.told(seen.untold(10));
  for (let second = 0; second < 61; second += 10) {
    now += 10_000;
    seen.see(sighting(a));
  }
  expect(seen.untold(10)).toHaveLength(1);
});

test('what changes while it is being told is told again', () => {
  const seen = machines();
  seen.see(sighting(a));
  const dose = seen.untold(10);
  seen.see(sighting(a, { uuid }));
  seen.told(dose);
  expect(seen.untold(10)).toMatchObject([{ uuid }]);
});
