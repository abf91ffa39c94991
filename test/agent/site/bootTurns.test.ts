import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bootTurns } from '#agent/site/bootTurns.ts';
import { SeenMachines } from '#agent/site/discovery/seenMachines.ts';
import { localHosts } from '#agent/site/localHosts.ts';
import { openState, type SiteState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import type { BootServerOptions } from '#bootserver/bootServer.ts';
import type { MachineFacts } from '#bootserver/machine.ts';

const mac = '02:00:00:00:00:01';
const uuid = '00112233-4455-6677-8899-aabbccddeeff';
const machine: MachineFacts = {
  ...{ mac, uuid, architecture: 'x86_64', firmware: 'uefi', bootId: 'boot_1' },
  ...{ address: '10.77.0.100', leasedTo: mac },
};
/** Names the machine from an address that another one has. */
const impostor: MachineFacts = {
  ...{ mac, uuid: 'deadbeef-dead-beef-dead-beefdeadbeef', serial: 'EVIL', architecture: 'aarch64' },
  ...{ firmware: 'uefi', bootId: 'boot_1', address: '10.77.0.66', leasedTo: '02:00:00:00:00:66' },
};
const entry = {
  ...{ entryId: 'be_1', siteId: 'site_1', nodeId: 'node_1', macs: [mac], uuid },
  ramdisk: { ref: 'ramdisk@1', digests: { x86_64: '1'.repeat(64) } },
  issuedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2100-01-01T00:00:00.000Z',
};

let directory: string;
let state: SiteState;
let seen: SeenMachines;
let wakes: number;
let turns: ReturnType<typeof bootTurns>;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'railhead-turns-'));
  state = await openState(directory);
  const nodeOf = (of: string) => (of === mac ? { nodeId: 'node_1', macs: [mac] } : undefined);
  state.spec.nodeByMac = nodeOf as typeof state.spec.nodeByMac;
  const log = silentLog();
  seen = new SeenMachines({ database: state.database, nodeOf: (of) => nodeOf(of)?.nodeId, log });
  wakes = 0;
  const onEvent = () => void wakes++;
  turns = bootTurns({ state, hosts: localHosts([]), consoles: [], seen, onEvent, log });
});

afterEach(async () => {
  seen.close();
  state.close();
  await rm(directory, { recursive: true });
});

const untold = () => state.events.untold(1000).map(({ type }) => type);
async function ask(facts: MachineFacts, times = 1): Promise<unknown> {
  for (let at = 1; at < times; at++) await turns.decide(facts);
  return turns.decide(facts);
}

test('who only names a machine is told nothing, changes nothing, and is told to an operator once', async () => {
  state.entries.put(entry, 'jws');
  await ask(machine);
  const before = seen.all();
  expect(await ask(impostor, 400)).toEqual({ kind: 'disk' });
  expect(seen.all()).toEqual(before);
  expect(untold()).toEqual(['machine.alarm']);
  expect(wakes).toBe(1);
});

test('alarms of one machine are few, from however many addresses it is named', async () => {
  state.entries.put(entry, 'jws');
  for (let host = 1; host < 200; host++) await ask({ ...impostor, address: `10.77.0.${host}` });
  expect(untold().length).toBeLessThan(12);
});

test('without an entry, what was asked in the name of a node is in its timeline, once', async () => {
  await ask(impostor, 400);
  expect(state.events.timeline(mac, 10)).toMatchObject([
    { type: 'boot.other', text: expect.stringContaining('10.77.0.66, an address that is not leased to it') },
  ]);
  expect(seen.all()).toEqual([]);
});

test('made-up addresses are not told to the centre as machines', async () => {
  for (let at = 0; at < 100; at++) await ask({ ...impostor, mac: `06:00:00:00:00:${at + 100}` });
  expect(untold()).toEqual([]);
  const stranger = '06:00:00:00:00:01';
  await ask({ ...machine, mac: stranger, leasedTo: stranger }, 2);
  expect(untold()).toEqual(['machine.discovered']);
});

test('steps of one node are written in measure; its advice always', () => {
  const { timeline } = turns as BootServerOptions;
  for (let at = 0; at < 8000; at++)
    timeline({ bootId: 'boot_1', mac, type: 'boot.http', text: `/images/${at}` });
  timeline({ bootId: 'boot_1', mac, type: 'boot.advice', text: 'look at its console' });
  const told = state.events.timeline(mac, 9000);
  expect(told.length).toBeLessThan(450);
  expect(told.at(-1)).toMatchObject({ type: 'boot.advice' });
});
