import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile as readBytes, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '#base/clock.ts';
import { fromSource, startProcess } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { type Benchmark, median, round, thisMachine } from './benchmark.ts';
import { firmware } from './tftp/reader.ts';
import { fetchServers } from './tftp/servers.ts';
import { openWire, type Wire } from './wire.ts';

const fileBytes = 1024 * 1024;
const directory = path.resolve(import.meta.dirname, '../../.rack/bench-tftp');
const peers = ['tftpd-hpa', 'dnsmasq'] as const;

/** How many read at once, and how many in 100 datagrams are lost each way. */
interface Cell {
  name: string;
  readers: number;
  /** How often each reader takes the file: few readers are so soon done that they come again. */
  times: number;
  loss: number;
}
const crowds = [
  { readers: 1, times: 20 },
  { readers: 50, times: 3 },
  { readers: 200, times: 1 },
];
const cells: readonly Cell[] = [0, 1].flatMap((loss) =>
  crowds.map((crowd) => ({ name: `${crowd.readers} readers, ${loss} % loss`, ...crowd, loss })),
);

const withoutLoss = cells.filter(({ loss }) => loss === 0);

/** What one client process found. */
interface Run {
  seconds: number;
  bytes: number;
  failures: number;
  unfinished: number;
}

interface Figure {
  mbPerSecond: number;
  failures: number;
  /** Still loading when the time was over. */
  unfinished: number;
}

/** How fast files go to many machines by TFTP, with and without loss, against tftpd-hpa and dnsmasq; one client program for all. */
export const tftp: Benchmark = {
  name: 'tftp',
  about: '1, 50 and 200 readers of 1 MiB by TFTP, at 0 and 1 % loss, against tftpd-hpa and dnsmasq',
  run: async (quick, signal) => {
    const servers = await fetchServers();
    const wire = await openWire('benchtftp', 16);
    try {
      await addReaders(wire);
      await mkdir(directory, { recursive: true });
      const file = path.join(directory, 'loader');
      await writeFile(file, randomBytes(fileBytes));
      const runs = new Runs();
      for (let turn = 0; turn < (quick ? 1 : 3); turn++)
        for (const [name, command] of Object.entries(servers)) {
          signal.throwIfAborted();
          // With loss once: there the peers take all the time that there is.
          const now = turn === 0 ? cells : withoutLoss;
          const server = { command: command(wire, file), cells: now };
          await measure(wire, server, file, quick, (cell, run) => runs.add(cell, name, run));
        }
      return findings(runs, quick);
    } finally {
      await wire.close();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

/** As machines do, each reader has an address of its own: one that takes eight files at a time is held back by ours. */
async function addReaders({ client }: Wire): Promise<void> {
  const most = Math.max(...cells.map(({ readers }) => readers));
  const lines = Array.from(
    { length: most },
    (_, at) => `addr add 10.78.1.${at + 1}/16 dev ${client.interfaceName}\n`,
  );
  await runIn(client.namespace, ['ip', '-batch', '-'], { input: lines.join('') });
}

/** What was found in each cell of each server. */
class Runs {
  readonly #runs = new Map<string, Run[]>();

  add(cell: Cell, server: string, run: Run): void {
    console.error(`${cell.name}, ${server}: ${JSON.stringify(run)}`);
    this.#runs.set(`${cell.name} ${server}`, [...this.of(cell, server), run]);
  }

  of(cell: Cell, server: string): Run[] {
    return this.#runs.get(`${cell.name} ${server}`) ?? [];
  }
}

/** Some cells with one server, those without loss first. */
async function measure(
  wire: Wire,
  { command, cells }: { command: [string, ...string[]]; cells: readonly Cell[] },
  file: string,
  quick: boolean,
  found: (cell: Cell, run: Run) => void,
): Promise<void> {
  const logFile = path.join(directory, 'server.log');
  const server = startProcess({ namespace: wire.server.namespace, command, logFile });
  try {
    await Promise.race([answers(wire, file), server.died()]);
    for (const cell of cells) {
      await wire.lose(cell.loss);
      const { readers, times } = cell;
      found(cell, await client(wire, file, { readers, times, seconds: secondsAtMost(quick) }));
    }
  } finally {
    await wire.lose(0);
    await server.kill();
  }
}

function secondsAtMost(quick: boolean): number {
  return quick ? 2 : 20;
}

interface Load {
  readers: number;
  times: number;
  seconds: number;
}

async function client(wire: Wire, file: string, { readers, times, seconds }: Load): Promise<Run> {
  const sha256 = createHash('sha256')
    .update(await readBytes(file))
    .digest('hex');
  const figures = [readers, times, seconds].map(String);
  const args = [wire.server.address, path.basename(file), sha256, ...figures];
  const found = await runIn(wire.client.namespace, fromSource('test/bench/tftp/clientProcess.ts', args));
  return JSON.parse(found) as Run;
}

/** Waits for a server that hands the file out, and warms it up. */
async function answers(wire: Wire, file: string): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { failures, unfinished } = await client(wire, file, { readers: 5, times: 1, seconds: 0.5 });
    if (failures + unfinished === 0) return;
    await systemClock.sleep(50);
  }
  throw new Error('the server hands out nothing');
}

function figure(runs: readonly Run[]): Figure {
  const sum = (count: (run: Run) => number) => runs.reduce((total, run) => total + count(run), 0);
  return {
    mbPerSecond: round(median(runs.map(({ bytes, seconds }) => bytes / 1e6 / seconds))),
    failures: sum(({ failures }) => failures),
    unfinished: sum(({ unfinished }) => unfinished),
  };
}

/** The ratio of the whole is the geometric mean of the cells without loss. */
function findings(runs: Runs, quick: boolean) {
  const of = (server: string) =>
    Object.fromEntries(cells.map((cell) => [cell.name, figure(runs.of(cell, server))]));
  const ratioIn = (cell: Cell, peer: string) =>
    round(figure(runs.of(cell, 'ours')).mbPerSecond / figure(runs.of(cell, peer)).mbPerSecond);
  const ratios = (peer: string) => Object.fromEntries(cells.map((cell) => [cell.name, ratioIn(cell, peer)]));
  const mean = (peer: string) =>
    round(
      withoutLoss.reduce((product, cell) => product * ratioIn(cell, peer), 1) ** (1 / withoutLoss.length),
    );
  return {
    bench: 'tftp',
    ratio: Object.fromEntries(peers.map((peer) => [peer, mean(peer)])),
    ours: of('ours'),
    peers: Object.fromEntries(peers.map((peer) => [peer, { ...of(peer), oursAgainstIt: ratios(peer) }])),
    machine: { ...thisMachine(), fileBytes, firmware, secondsAtMost: secondsAtMost(quick) },
  };
}
