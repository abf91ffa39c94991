import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ManagedProcess } from '#rack/line/managedProcess.ts';
import { type Benchmark, round, thisMachine } from './benchmark.ts';
import { flood } from './dhcp/flood.ts';
import { fetchPerfdhcp, type Trial, tryRate } from './dhcp/perfdhcp.ts';
import { greatestRate } from './dhcp/search.ts';
import { fetchServers, prefixLength, type StartServer } from './dhcp/servers.ts';
import { openWire, type Wire } from './wire.ts';

const directory = path.resolve(import.meta.dirname, '../../.rack/bench-dhcp');
const clients = 60_000;

/** Where the search begins: each is doubled until it is too much. */
const firstRates = { ours: 1500, kea: 1500, dnsmasq: 75 } as const;
type Name = keyof typeof firstRates;

/** Leases per second that survive a power cut, of the whole site agent, against Kea and dnsmasq; memory after a million clients. */
export const dhcp: Benchmark = {
  name: 'dhcp',
  about:
    'four-way exchanges per second at < 1 % drops with leases on disk, against Kea and dnsmasq; memory after a million clients',
  run: async (quick, signal) => {
    const servers = await fetchServers();
    const perfdhcp = await fetchPerfdhcp();
    const wire = await openWire('benchdhcp', prefixLength);
    try {
      const [seconds, steps] = quick ? [1, { double: 4, close: 1 }] : [5, { double: 5, close: 4 }];
      const best = {} as Record<Name, Trial>;
      let memory = {};
      for (const name of ['ours', 'kea', 'dnsmasq'] as const) {
        signal.throwIfAborted();
        await withServer(servers[name], wire, name, async (server) => {
          const measure = async (rate: number) => {
            const trial = await tryRate(perfdhcp, wire, { rate, seconds, clients });
            console.error(`${name}: ${JSON.stringify(trial)}`);
            return trial;
          };
          await warmUp(measure);
          best[name] = await greatestRate(firstRates[name], steps, measure);
          if (name === 'ours') memory = await memoryUnderFlood(server, wire, quick ? 50_000 : 1_000_000);
        });
      }
      return findings(best, memory, { quick, seconds });
    } finally {
      await wire.close();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function withServer(
  start: StartServer,
  wire: Wire,
  name: Name,
  use: (server: ManagedProcess) => Promise<void>,
): Promise<void> {
  const folder = path.join(directory, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const server = await start(wire, folder);
  try {
    await Promise.race([use(server), server.died()]);
  } finally {
    await server.stop();
  }
}

/** The peers do not say when they are ready; the first exchanges of a process are slow. */
async function warmUp(measure: (rate: number) => Promise<Trial>): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    if ((await measure(50)).droppedPercent === 0) return;
    await delay(300);
  }
  throw new Error('the server does not answer');
}

/** Resident memory before and after DISCOVERs of that many clients, which come as fast as they can be sent. */
async function memoryUnderFlood(server: ManagedProcess, wire: Wire, distinctMacs: number): Promise<object> {
  const before = await residentMiB(server);
  const { seconds } = await flood(wire, distinctMacs);
  return {
    distinctMacs,
    floodSeconds: round(seconds),
    rssMiBBefore: before,
    rssMiBAfter: await residentMiB(server),
  };
}

async function residentMiB({ child }: ManagedProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

function findings(best: Record<Name, Trial>, memory: object, how: { quick: boolean; seconds: number }) {
  const { ours, kea, dnsmasq } = best;
  const ratio = (peer: Trial) => round(ours.exchangesPerSecond / peer.exchangesPerSecond);
  return {
    bench: 'dhcp',
    ratio: { kea: ratio(kea), dnsmasq: ratio(dnsmasq) },
    ours: { ...figures(ours), memory },
    peers: { kea: figures(kea), dnsmasq: figures(dnsmasq) },
    machine: { ...thisMachine(), clients, ...how },
  };
}

function figures({ exchangesPerSecond, droppedPercent, p50, p99 }: Trial): object {
  return { exchangesPerSecond: Math.round(exchangesPerSecond), droppedPercent, ackMs: { p50, p99 } };
}
