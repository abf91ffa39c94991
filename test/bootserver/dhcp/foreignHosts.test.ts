import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { silentLog } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { Boots } from '#bootserver/boots.ts';
import { Leases } from '#bootserver/dhcp/leases.ts';
import { startDhcpServer } from '#bootserver/dhcp/server.ts';
import { openHeardAddresses } from '#bootserver/heardAddresses.ts';
import { runIn } from '#rack/netns.ts';
import { foreignProgram } from '../foreign.ts';
import { useWire } from '../twoNamespaces.ts';
import { network } from './bench.ts';
import { MemoryLeases } from './memoryLeases.ts';

// Fetched before this process moves to a network without a way out.
const busybox = await foreignProgram('busybox-static', 'busybox');
const wire = useWire();
const database = new Database(':memory:');
const leases = new Leases(new MemoryLeases(), [network]);
const warnings: { facts: Record<string, unknown>; text: string }[] = [];
const foreign = '02:00:00:00:00:99';
let server: Closable;

beforeAll(async () => {
  // Only an interface's own addresses are answered for, as by three machines on one wire.
  await inClient('sysctl', '-qw', 'net.ipv4.conf.all.arp_ignore=1');
  await addInterface('host0', foreign);
  await addInterface('client1', '02:00:00:00:00:02');
  for (const last of [100, 101, 102])
    await inClient('ip', 'addr', 'add', `10.77.0.${last}/24`, 'dev', 'host0');
  server = await startDhcpServer({
    interfaceName: wire.server.name,
    port: 67,
    networks: [network],
    reservations: { reservation: () => undefined, isReserved: () => false },
    leases,
    boots: new Boots(() => {}, systemClock),
    heard: openHeardAddresses({ database, log: silentLog(), isNamed: () => false }),
    log: warningLog(),
    clock: systemClock,
  });
});

afterAll(() => server.close());

function inClient(...command: string[]): Promise<string> {
  return runIn(wire.clientNamespace, command, { timeoutMs: 15_000 });
}

/** A further interface on the client's end of the wire. */
async function addInterface(name: string, mac: string): Promise<void> {
  await inClient('ip', 'link', 'add', 'link', 'client0', 'name', name, 'address', mac, 'type', 'macvlan');
  await inClient('ip', 'link', 'set', name, 'up');
}

function warningLog(): Log {
  const nothing = () => {};
  const warn = (facts: Record<string, unknown>, text: string) => void warnings.push({ facts, text });
  const log = { debug: nothing, info: nothing, error: nothing, warn, child: () => log } as unknown as Log;
  return log;
}

function udhcpc(interfaceName: string): Promise<string> {
  const once = ['-n', '-q', '-f', '-t', '2', '-T', '1', '-s', '/bin/true'];
  return inClient(busybox, 'udhcpc', '-i', interfaceName, ...once);
}

test('hosts that took addresses of the pool by themselves are found and told before anybody asks', async () => {
  await expect.poll(() => warnings.length, { timeout: 5000 }).toBe(3);
  expect(warnings[0]).toEqual({
    facts: { address: '10.77.0.100', host: foreign },
    text: 'a host that has no lease answers at an address of ours',
  });
});

test('a client gets an address at which nobody answers', async () => {
  await udhcpc('client0');
  expect(leases.of(network).ofClient(`1/${wire.clientMac}`)).toMatchObject({
    address: '10.77.0.103',
    state: 'bound',
  });
});

test('one that finds the pool full gets none, and the operator is told once, with figures', async () => {
  warnings.length = 0;
  await expect(udhcpc('client1')).rejects.toThrow();
  expect(warnings).toEqual([
    {
      facts: expect.objectContaining({
        mac: '02:00:00:00:00:02',
        pool: { size: 4, free: 0, kept: 0, declined: 0, foreignHosts: 3 },
      }),
      text: 'DHCP: the pool has no address left: enlarge it, or free addresses',
    },
  ]);
});
