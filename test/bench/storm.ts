import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Toolbox } from '#base/debian/toolbox.ts';
import { ensureIpxe } from '#bootserver/ipxePackage.ts';
import { fromSource, type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { type Benchmark, round, thisMachine } from './benchmark.ts';
import { initrdBytes, kernelBytes } from './storm/files.ts';
import { ownWaits } from './storm/machine.ts';
import { fetchPeer, startPeer } from './storm/peer.ts';
import { openWire, type Wire } from './wire.ts';

const directory = path.resolve(import.meta.dirname, '../../.rack/bench-storm');
const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache');
const peerName = 'dnsmasq+nginx';

interface Storm {
  machines: number;
  seconds: number;
}

/** How the machines of one storm booted. */
interface Boots {
  booted: number;
  failures: Record<string, number>;
  scriptMs: { p50: number; p99: number };
  bootedMs: { p50: number; p99: number };
}

/** A thousand machines powered on at once: does every one boot, how soon has it its script, and what does that take? */
export const storm: Benchmark = {
  name: 'storm',
  about:
    '1,000 simulated machines powered on within 5 s boot from DHCP to the initrd, against dnsmasq with nginx',
  run: async (quick, signal) => {
    const toolbox = await fetchPeer();
    const ipxeDirectory = path.join(cacheDirectory, 'ipxe');
    await ensureIpxe({ directory: ipxeDirectory, cacheDirectory: path.join(cacheDirectory, 'debian') });
    const size: Storm = quick ? { machines: 200, seconds: 1 } : { machines: 1000, seconds: 5 };
    await rm(directory, { recursive: true, force: true });
    const ours = await withWire(signal, (wire) => runOurs(wire, ipxeDirectory, size));
    const peer = await withWire(signal, (wire) => runPeer(wire, toolbox, ipxeDirectory, size));
    await rm(directory, { recursive: true, force: true });
    return {
      bench: 'storm',
      ratio: { [peerName]: ratioOf(ours, peer) },
      ours,
      peers: { [peerName]: peer },
      machine: { ...thisMachine(), ...size, kernelBytes, initrdBytes, ownWaits },
    };
  },
};

/** Of the time to script at the 99th machine of a hundred; of the machines that booted where ours left more behind. */
function ratioOf(ours: Boots, peer: Boots): number {
  const times = peer.scriptMs.p99 / ours.scriptMs.p99;
  return round(ours.booted >= peer.booted ? times : ours.booted / peer.booted);
}

/** A wire of its own for each, so that neither finds neighbours or connections of the other. */
async function withWire<Found>(signal: AbortSignal, run: (wire: Wire) => Promise<Found>): Promise<Found> {
  signal.throwIfAborted();
  const wire = await openWire('benchstorm', 16);
  try {
    await mkdir(directory, { recursive: true });
    return await run(wire);
  } finally {
    await wire.close();
  }
}

async function runOurs(wire: Wire, ipxeDirectory: string, size: Storm): Promise<Boots & { site: object }> {
  const logFile = path.join(directory, 'ours.log');
  const { namespace, address, interfaceName } = wire.server;
  const command = fromSource('test/bench/storm/bootProcess.ts', [
    ...[path.join(directory, 'ours'), ipxeDirectory, address, interfaceName],
  ]);
  await mkdir(path.join(directory, 'ours'), { recursive: true });
  const server = startProcess({ namespace, command, logFile });
  const boots = await Promise.race([machines(wire, size), server.died()]);
  await server.stop();
  const lines = (await readFile(logFile, 'utf8')).trim().split('\n');
  return { ...boots, site: JSON.parse(lines.at(-1) ?? '{}') as object };
}

async function runPeer(wire: Wire, toolbox: Toolbox, ipxeDirectory: string, size: Storm): Promise<Boots> {
  const servers = await startPeer(toolbox, wire, directory, ipxeDirectory);
  const died = servers.map((server: ManagedProcess) => server.died());
  const boots = await Promise.race([machines(wire, size), ...died]);
  for (const server of servers) await server.kill();
  return boots;
}

/** One machine first, so that the storm begins when the servers are up and warm. */
async function machines(wire: Wire, { machines: count, seconds }: Storm): Promise<Boots> {
  const { namespace, interfaceName } = wire.client;
  await runIn(namespace, ['ip', 'route', 'add', 'default', 'dev', interfaceName]);
  const run = async (number: number, within: number) => {
    const args = [interfaceName, String(number), String(within)];
    const found = await runIn(namespace, fromSource('test/bench/storm/machinesProcess.ts', args));
    console.error(found.trim());
    return JSON.parse(found) as Boots;
  };
  await run(1, 0);
  return run(count, seconds);
}
