import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { Boots } from '#bootserver/boots.ts';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { decide } from '#bootserver/dhcp/decide.ts';
import { Leases } from '#bootserver/dhcp/leases.ts';
import { startDhcpServer } from '#bootserver/dhcp/server.ts';
import { openHeardAddresses } from '#bootserver/heardAddresses.ts';
import { startProcess } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { foreignProgram } from '../foreign.ts';
import { useWire } from '../twoNamespaces.ts';
import { Bench, network } from './bench.ts';
import { MemoryLeases } from './memoryLeases.ts';
import { clients, discover, hardware } from './samples.ts';

const busybox = await foreignProgram('busybox-static', 'busybox');
const wire = useWire();

function usedMiB(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

test('a million clients that nobody knows leave no more than a bounded number behind, and the known one its address', () => {
  const bench = new Bench();
  bench.network = { ...network, pool: { first: '10.77.0.100', last: '10.77.0.199' } };
  bench.reserved.set('02:00:00:00:00:01', { address: '10.77.0.20' });
  const boots = new Boots(() => {}, systemClock);
  const before = usedMiB();
  const packet = discover({}, clients.bios);
  for (let at = 0; at < 1_000_000; at++) {
    packet.chaddr.writeUInt32BE(at, 2);
    packet.chaddr[0] = 6;
    const client = clientFacts(packet);
    if (at % 10 === 0) boots.discovered(client.mac ?? '', client.kind);
    bench.now += 1;
    const decision = decide(packet, client, { ...bench.view(), loaderGiven: false });
    for (const change of decision.changes) bench.leases.apply(change);
  }
  expect([...bench.leases.endingFirst('offered')].length).toBeLessThanOrEqual(100);
  expect(usedMiB() - before).toBeLessThan(32);
  const known = bench.reply(discover({}, {}, { chaddr: hardware('02:00:00:00:00:01') }));
  expect(known.yiaddr).toBe('10.77.0.20');
}, 60_000);

async function packetsSent(): Promise<number> {
  const listing = await runIn(wire.clientNamespace, ['ip', '-s', '-j', 'link', 'show', 'client0']);
  return JSON.parse(listing)[0].stats64.tx.packets;
}

test('a machine of the site gets its address while others flood the wire', async () => {
  const database = new Database(':memory:');
  const server = await startDhcpServer({
    interfaceName: wire.server.name,
    port: 67,
    networks: [network],
    reservations: {
      reservation: (key) => (key === `1/${wire.clientMac}` ? { address: '10.77.0.20' } : undefined),
      isReserved: (address) => address === '10.77.0.20',
    },
    leases: new Leases(new MemoryLeases(), [network]),
    boots: new Boots(() => {}, systemClock),
    heard: openHeardAddresses({ database, log: silentLog(), isNamed: () => false }),
    log: silentLog(),
    clock: systemClock,
    sighted: () => {},
  });
  onTestFinished(() => server.close());
  const flood = startProcess({
    namespace: wire.clientNamespace,
    command: [process.execPath, 'test/bench/dhcp/floodProcess.ts', 'client0', '10000000'],
    logFile: '/dev/null',
  });
  onTestFinished(() => flood.kill());
  const before = await packetsSent();
  await expect.poll(packetsSent, { timeout: 10_000 }).toBeGreaterThan(before + 10_000);
  const once = ['-n', '-q', '-f', '-t', '12', '-T', '1', '-s', '/bin/true'];
  const client = ['sh', '-c', '"$@" 2>&1', 'sh', busybox, 'udhcpc', '-i', 'client0', ...once];
  // The wire is so full that the client's own kernel refuses some of its packets, which ends udhcpc; firmware tries again as well.
  const tried = () => runIn(wire.clientNamespace, client, { timeoutMs: 20_000 }).catch(String);
  await expect.poll(tried, { timeout: 40_000 }).toContain('lease of 10.77.0.20 obtained');
}, 60_000);
