import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { run as runCommand } from '#base/command.ts';
import { silentLog } from '#base/log.ts';
import { openBmc } from '#redfish/bmc.ts';
import { foreignRedfish } from '../e2e/sushy/python.ts';
import { type Benchmark, median, round, thisMachine } from './benchmark.ts';
import { startWorker, type Worker } from './join/worker.ts';

const bmcs = 500;
const everyMs = 30_000;
const quickEveryMs = 6_000;
/** How long a simulated machine takes to change its power. */
const delayMs = 1000;

interface Access {
  address: string;
  username: string;
  password: string;
}

/** What it takes to watch 500 BMCs, how long a power cycle lasts beyond what the BMC takes, and how many requests an operation needs. */
export const bmc: Benchmark = {
  name: 'bmc',
  about:
    '500 BMCs polled for power every 30 s; a power cycle beyond the BMC’s own delay; requests per operation against python3-sushy',
  run: async (quick, signal) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-bench-bmc-'));
    const workers: Worker[] = [];
    const start = (file: string, ...args: string[]) => {
      const worker = startWorker(fileURLToPath(new URL(`./bmc/${file}`, import.meta.url)), ...args);
      workers.push(worker);
      return worker;
    };
    try {
      const polled = await polling(start, directory, quick, signal);
      signal.throwIfAborted();
      const single = start('bmcsProcess.ts', directory);
      const [access] = (await single.call<{ bmcs: Access[] }>('start', { count: 1, delayMs })).bmcs;
      if (access === undefined) throw new Error('no BMC was started');
      const beyondMs = await cycles(access, quick ? 2 : 20);
      signal.throwIfAborted();
      const requests = await comparison(single, directory);
      return findings(polled, beyondMs, requests, quick);
    } finally {
      await Promise.all(workers.map((worker) => worker.end()));
      await rm(directory, { recursive: true });
    }
  },
};

type Start = (file: string, ...args: string[]) => Worker;

async function polling(start: Start, directory: string, quick: boolean, signal: AbortSignal) {
  console.error(`${bmcs} BMCs start`);
  const them = start('bmcsProcess.ts', directory);
  const { bmcs: access } = await them.call<{ bmcs: Access[] }>('start', { count: bmcs, delayMs: 0 });
  const agent = start('agentProcess.ts');
  const before = await agent.call<{ mib: number }>('memory');
  await agent.call('open', { bmcs: access });
  console.error('their power is polled');
  // The first round logs in everywhere; what is measured is what comes after it.
  const interval = quick ? quickEveryMs : everyMs;
  await agent.call('poll', { everyMs: interval });
  await systemClock.sleep(interval + 500, signal);
  const first = await agent.call<Used>('used');
  await systemClock.sleep(quick ? interval : 4 * interval, signal);
  const second = await agent.call<Used>('used');
  const memory = await agent.call<{ mib: number }>('memory');
  const counted = await them.call<{ mostSessions: number }>('count');
  const { failures } = await agent.call<Used>('stop');
  const { sessionsLeft } = await them.call<{ sessionsLeft: number }>('count');
  await Promise.all([them.end(), agent.end()]);
  const polls = second.polls - first.polls;
  const cpuMsPerPoll = (second.cpuMs - first.cpuMs) / polls;
  return {
    // At one poll per BMC and 30 s, whatever the interval that was measured.
    cpuPercentOfOneCore: round((cpuMsPerPoll * bmcs * 100) / everyMs),
    memoryMiB: round(memory.mib - before.mib),
    cpuMsPerPoll: round(cpuMsPerPoll),
    mostSessionsPerBmc: counted.mostSessions,
    sessionsLeft,
    polls,
    failures,
  };
}

interface Used {
  cpuMs: number;
  polls: number;
  failures: number;
}

/** How much longer than the machine's own two changes a cycle by off and on lasts: the longest way there is. */
async function cycles({ address, ...login }: Access, times: number): Promise<number[]> {
  const opened = openBmc({ address, ...login, log: silentLog() });
  const beyond: number[] = [];
  try {
    await opened.setPower('on');
    for (let time = 0; time < times; time++) {
      const since = performance.now();
      await opened.setPower('off');
      await opened.setPower('on');
      beyond.push(performance.now() - since - 2 * delayMs);
    }
    await opened.setPower('off');
  } finally {
    await opened.close();
  }
  return beyond;
}

const operations = ['power', 'on', 'pxe', 'cycle', 'insert', 'eject', 'off'] as const;

/** The same operations by both, each from login to logout; a BMC that changes its power at once, so that looking again counts for neither. */
async function comparison(single: Worker, directory: string) {
  const [access] = (await single.call<{ bmcs: Access[] }>('start', { count: 1, delayMs: 0 })).bmcs;
  if (access === undefined) throw new Error('no BMC was started');
  const image = path.join(directory, 'image.iso');
  await writeFile(image, 'an image');
  const url = pathToFileURL(image).href;
  const taken = async () => (await single.call<{ requests: unknown[] }>('takeRequests')).requests.length;
  await ours(access, url);
  const own = await taken();
  const { python, debianModules } = await foreignRedfish();
  const script = path.resolve(import.meta.dirname, '../e2e/sushy/operate.py');
  const { address, username, password } = access;
  const env = { PYTHONPATH: debianModules, PYTHONWARNINGS: 'ignore', PATH: process.env.PATH ?? '' };
  await runCommand(python, [script, address, username, password, url, ...operations], { env });
  return { ours: own, sushy: await taken() };
}

async function ours({ address, ...login }: Access, url: string): Promise<void> {
  const opened = openBmc({ address, ...login, log: silentLog() });
  const known: Record<(typeof operations)[number], () => Promise<unknown>> = {
    power: () => opened.getPower(),
    on: () => opened.setPower('on'),
    pxe: () => opened.setBootDevice({ device: 'pxe', persistent: false }),
    cycle: () => opened.setPower('cycle'),
    insert: () => opened.insertMedia(url),
    eject: () => opened.ejectMedia(),
    off: () => opened.setPower('off'),
  };
  for (const operation of operations) await known[operation]();
  await opened.close();
}

function findings(
  polled: Awaited<ReturnType<typeof polling>>,
  beyondMs: readonly number[],
  requests: { ours: number; sushy: number },
  quick: boolean,
) {
  const cycle = { medianMs: Math.round(median(beyondMs)), longestMs: Math.round(Math.max(...beyondMs)) };
  return {
    bench: 'bmc',
    ratio: { sushy: round(requests.sushy / requests.ours) },
    ours: { ...polled, cycleBeyondItsDelay: cycle, requests: requests.ours },
    peers: { sushy: { requests: requests.sushy, operations } },
    machine: {
      ...thisMachine(),
      bmcs,
      pollEveryMs: quick ? quickEveryMs : everyMs,
      delayMs,
      transport: 'loopback, TLS 1.3',
    },
  };
}
