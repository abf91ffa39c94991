import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openInterfaceSockets } from '#base/boundSocket.ts';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { Boots } from '#bootserver/boots.ts';
import { Leases } from '#bootserver/dhcp/leases.ts';
import { startDhcpServer } from '#bootserver/dhcp/server.ts';
import { openHeardAddresses } from '#bootserver/heardAddresses.ts';
import { siteDiscovery } from '#contract/siteDiscovery.ts';
import { runIn } from '#rack/netns.ts';
import { foreignProgram } from '../foreign.ts';
import { fetchNetworkd, startNetworkd } from '../networkd.ts';
import { useWire } from '../twoNamespaces.ts';
import { network } from './bench.ts';
import { MemoryLeases } from './memoryLeases.ts';

// Fetched before this process moves to a network without a way out.
const dhclient = await foreignProgram('isc-dhcp-client', 'dhclient');
const busybox = await foreignProgram('busybox-static', 'busybox');
const networkd = await fetchNetworkd();
const wire = useWire();
const database = new Database(':memory:');
const leases = new Leases(new MemoryLeases(), [network]);
const timeline: string[] = [];
let server: Closable;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'dhcp-'));
  server = await startDhcpServer({
    interfaceName: wire.server.name,
    port: 67,
    networks: [network],
    reservations: { reservation: () => undefined, isReserved: () => false },
    leases,
    boots: new Boots(({ text }) => timeline.push(text), systemClock),
    heard: openHeardAddresses({ database, log: silentLog(), isNamed: () => false }),
    log: silentLog(),
    clock: systemClock,
  });
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

/** Runs busybox's DHCP client once; what it was told, as its script's environment. */
async function udhcpc(...args: string[]): Promise<Record<string, string>> {
  const script = path.join(directory, 'told.sh');
  await writeFile(script, '#!/bin/sh\n[ "$1" = bound ] && env\nexit 0\n');
  await chmod(script, 0o755);
  const output = await runIn(
    wire.clientNamespace,
    [busybox, 'udhcpc', '-i', 'client0', '-n', '-q', '-f', '-t', '3', '-T', '1', '-s', script, ...args],
    { timeoutMs: 15_000 },
  );
  return Object.fromEntries(output.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

test('udhcpc gets an address, a router and name servers by broadcast', async () => {
  const told = await udhcpc();
  expect(told.ip).toMatch(/^10\.77\.0\.10[0-3]$/);
  expect(told).toMatchObject({
    subnet: '255.255.255.0',
    router: '10.77.0.1',
    dns: '10.77.0.1 9.9.9.9',
    serverid: '10.77.0.1',
    lease: '600',
  });
  expect(leases.of(network).at(told.ip!)).toMatchObject({ state: 'bound', key: `1/${wire.clientMac}` });
  expect(timeline).toEqual([`OFFER ${told.ip} (os)`, `ACK ${told.ip} (os)`]);
});

test('udhcpc with the ramdisk’s class is told where the site is', async () => {
  const { vendorClass, optionNumber } = siteDiscovery;
  const told = await udhcpc('-V', vendorClass, '-O', String(optionNumber));
  expect(Buffer.from(told[`opt${optionNumber}`] ?? '', 'hex').toString()).toBe(network.machineUrl);
});

test('udhcpc keeps its address when it names another client identifier', async () => {
  const first = await udhcpc();
  const second = await udhcpc('-x', '0x3d:ffabcdef');
  expect(second.ip).toBe(first.ip);
});

test('a second server on the interface is refused its port', () => {
  expect(() => openInterfaceSockets(wire.server.name, 67, wire.server.address)).toThrow(
    expect.objectContaining({ code: 'EADDRINUSE' }),
  );
});

test('ISC dhclient gets the same lease, and gives it back', async () => {
  const key = `1/${wire.clientMac}`;
  const command = await dhclientCommand();
  const run = (...args: string[]) =>
    runIn(wire.clientNamespace, [...command, ...args, 'client0'], { timeoutMs: 15_000 });
  const before = leases.of(network).ofClient(key)?.address;
  await run('-1');
  expect(leases.of(network).ofClient(key)).toMatchObject({ state: 'bound', address: before });
  await run('-r');
  await expect.poll(() => leases.of(network).ofClient(key)?.expiresAt).toBeLessThanOrEqual(Date.now());
});

test('systemd-networkd gets the same lease by its own client identifier, and gives it back', async () => {
  const key = `1/${wire.clientMac}`;
  const before = leases.of(network).ofClient(key)?.address;
  const logFile = path.join(directory, 'networkd.log');
  const where = { namespace: wire.clientNamespace, interfaceName: 'client0', logFile };
  const client = await startNetworkd(networkd, where);
  onTestFinished(() => client.stop());
  const lease = () => leases.of(network).ofClient(key);
  await expect.poll(() => lease()?.state, { timeout: 20_000 }).toBe('bound');
  await expect.poll(() => readFile(logFile, 'utf8')).toContain(`DHCPv4 address ${before}/24`);
  await client.stop();
  await expect.poll(() => lease()?.state).toBe('released');
}, 40_000);

/** Its script only sets the address, which it needs to reach the server when it releases. */
async function dhclientCommand(): Promise<string[]> {
  const script = path.join(directory, 'dhclient-script');
  const setAddress = 'ip addr add "$new_ip_address/24" dev "$interface"';
  await writeFile(script, `#!/bin/sh\n[ "$reason" = BOUND ] && ${setAddress}\nexit 0\n`);
  await chmod(script, 0o755);
  const file = (name: string) => path.join(directory, name);
  return [dhclient, '-4', '-lf', file('leases'), '-pf', file('pid'), '-sf', script, '-cf', '/dev/null'];
}
