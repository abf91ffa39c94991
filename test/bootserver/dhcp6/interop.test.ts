import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { Boots } from '#bootserver/boots.ts';
import { Lease6Table } from '#bootserver/dhcp6/leases.ts';
import { messageType } from '#bootserver/dhcp6/message.ts';
import { startDhcp6Server } from '#bootserver/dhcp6/server.ts';
import { PacketTap } from '#bootserver/packetTap.ts';
import type { Sighting } from '#bootserver/sighting.ts';
import { runIn } from '#rack/netns.ts';
import { foreignProgram } from '../foreign.ts';
import { useWire } from '../twoNamespaces.ts';
import { network, site } from './bench.ts';

// Fetched before this process moves to a network without a way out.
const dhclient = await foreignProgram('isc-dhcp-client', 'dhclient');
const wire = useWire();
const leases = new Lease6Table(new Database(':memory:'));
const timeline: string[] = [];
const sightings: Sighting[] = [];
const tap = new PacketTap();
let server: Closable;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'dhcp6-'));
  await runIn(wire.server.namespace, ['ip', 'addr', 'add', 'fd77::1/64', 'dev', wire.server.name, 'nodad']);
  server = await startDhcp6Server({
    interfaceName: wire.server.name,
    port: 547,
    networks: [network],
    site,
    reservations: { addressOf: () => undefined, isReserved: () => false },
    leases,
    boots: new Boots(({ text }) => timeline.push(text), systemClock),
    sighted: (sighting) => sightings.push(sighting),
    tap,
    log: silentLog(),
    clock: systemClock,
  });
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

/** dhclient gives up where the client has no link-local address yet: the kernel looks first whether somebody else has it. */
async function linkLocalIsThere(): Promise<void> {
  const sees = () =>
    runIn(wire.clientNamespace, ['ip', '-6', 'addr', 'show', 'dev', 'client0', '-tentative']);
  await expect.poll(sees, { timeout: 5_000 }).toContain('fe80::');
}

/** Runs ISC's client once; what its script was told. */
async function dhclient6(...args: string[]): Promise<Record<string, string>> {
  const file = (name: string) => path.join(directory, name);
  const script = file('dhclient-script');
  const setAddress = '[ "$reason" = BOUND6 ] && ip addr add "$new_ip6_address/64" dev "$interface" nodad';
  await writeFile(script, `#!/bin/sh\nenv >${file('told')}.$reason\n${setAddress}\nexit 0\n`);
  await chmod(script, 0o755);
  const files = ['-lf', file('leases'), '-pf', file('pid'), '-sf', script, '-cf', '/dev/null'];
  await runIn(wire.clientNamespace, [dhclient, '-6', ...files, ...args, 'client0'], { timeoutMs: 20_000 });
  const output = await runIn(wire.clientNamespace, ['sh', '-c', `cat ${file('told')}.*`]);
  return Object.fromEntries(output.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

test('ISC dhclient gets an address and name servers by multicast, and gives the address back', async () => {
  await linkLocalIsThere();
  tap.since(wire.clientMac, 0);
  const told = await dhclient6('-1');
  expect(told.new_ip6_address).toMatch(/^fd77::10[0-3]$/);
  expect(told).toMatchObject({
    new_dhcp6_name_servers: 'fd77::1',
    new_dhcp6_domain_search: 'lab.example.',
    new_max_life: '600',
    new_dhcp6_server_id: expect.stringMatching(/^0:4:11:22:33/),
  });
  const packets = tap.since(wire.clientMac, 0).datagrams.map(({ payload, to }) => [payload[0], to.address]);
  expect(packets.slice(-4)).toEqual([
    [messageType.solicit, 'ff02::1:2'],
    [messageType.advertise, expect.stringMatching(/^fe80::[^%]+$/)],
    [messageType.request, 'ff02::1:2'],
    [messageType.reply, expect.stringMatching(/^fe80::/)],
  ]);
  const held = leases.at(told.new_ip6_address!);
  expect(held).toMatchObject({ state: 'bound', mac: wire.clientMac });
  await dhclient6('-r');
  await expect.poll(() => leases.at(held!.address)?.expiresAt).toBeLessThanOrEqual(Date.now());
  expect(timeline).toEqual([`DHCPv6 ADVERTISE ${held?.address} (os)`, `DHCPv6 REPLY ${held?.address} (os)`]);
  expect(sightings).toEqual([{ mac: wire.clientMac, client: 'os', isNewBoot: true }]);
});
