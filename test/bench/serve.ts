import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { openState } from '#agent/site/store/state.ts';
import { run } from '#base/command.ts';
import { hashFile } from '#cache/hashFile.ts';
import { artifactPath, cachePaths } from '#cache/path.ts';
import type { ManagedProcess } from '#rack/line/managedProcess.ts';
import { fromSource } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { startLoneSite } from '../fakes/loneSite.ts';
import { type Benchmark, median, round, thisMachine } from './benchmark.ts';
import { fetchPerfdhcp, type Trial, tryRate } from './dhcp/perfdhcp.ts';
import { pool, prefixLength } from './dhcp/servers.ts';
import { fetchNginx, startNginx } from './nginx.ts';
import { openWire, type Wire } from './wire.ts';

const MiB = 1024 ** 2;
const directory = path.resolve(import.meta.dirname, '../../.rack/bench-serve');
/** Leases are flushed before they are answered: in memory what is measured is what serving images does to packets, not the disk of this machine. */
const siteDirectory = '/dev/shm/railhead-bench-serve';
const readerCounts = [1, 8, 40] as const;
/** Exchanges a second that machines ask for while images are served. */
const dhcpRate = 50;

/** What a reading found. */
interface Reading {
  seconds: number;
  bytes: number;
  p99StallMs: number;
  cpuSeconds: number;
}

interface Server {
  url: string;
  pid: number;
}

/** How fast a site hands an image of its cache to 1, 8 and 40 readers, against nginx with sendfile; and how soon it answers DHCP meanwhile. */
export const serve: Benchmark = {
  name: 'serve',
  about: '1, 8 and 40 readers of an image over loopback, against nginx with sendfile; DHCP meanwhile',
  run: async (quick, signal) => {
    const tools = { nginx: await fetchNginx(), perfdhcp: await fetchPerfdhcp() };
    const wire = await openWire('benchserve', prefixLength);
    const running: ManagedProcess[] = [];
    try {
      const imageBytes = (quick ? 512 : 2048) * MiB;
      const digest = await prepare(imageBytes);
      const nginx = {
        url: `http://${wire.server.address}:8090/${digest}`,
        root: path.dirname(fileOf(digest)),
      };
      const { namespace, address } = wire.server;
      running.push(
        await startNginx(tools.nginx, { namespace, listen: `${address}:8090`, directory, ...nginx }),
      );
      running.push(await startSite(wire));
      const [peer, ours] = running.map(({ child }) => child.pid ?? 0);
      const servers = {
        ours: { url: `http://${address}:8080/images/sha256/${digest}`, pid: ours ?? 0 },
        nginx: { url: nginx.url, pid: peer ?? 0 },
      };
      await read(wire, servers.ours, 1, MiB);
      const readings = await inTurn(wire, servers, { imageBytes, turns: quick ? 2 : 3, quick }, signal);
      const dhcp = await dhcpBeside(wire, tools.perfdhcp, servers.ours, quick ? 4 : 15);
      return findings(readings, dhcp, { imageBytes, peakMiB: await peakMiB(servers.ours.pid) });
    } finally {
      await Promise.all(running.map((one) => one.kill()));
      await wire.close();
      for (const folder of [directory, siteDirectory]) await rm(folder, { recursive: true, force: true });
    }
  },
};

const cacheDirectory = path.join(directory, 'images');
const fileOf = (digest: string) => artifactPath(cachePaths(cacheDirectory), digest);

/** An image of that size in the cache of a site that has heard of it and has not started yet. */
async function prepare(imageBytes: number): Promise<string> {
  for (const folder of [directory, siteDirectory]) await rm(folder, { recursive: true, force: true });
  await mkdir(cacheDirectory, { recursive: true });
  await mkdir(path.join(siteDirectory, 'state'), { recursive: true, mode: 0o700 });
  await symlink(cacheDirectory, path.join(siteDirectory, 'state/images'));
  const file = path.join(directory, 'image');
  const handle = await open(file, 'w');
  const part = randomBytes(MiB);
  for (let at = 0; at < imageBytes; at += MiB) await handle.write(part);
  await handle.close();
  const digest = await hashFile(file);
  await mkdir(path.dirname(fileOf(digest)), { recursive: true });
  await run('mv', [file, fileOf(digest)]);
  const state = await openState(path.join(siteDirectory, 'state'));
  const facts = { kind: 'os', format: 'raw', compression: 'none' } as const;
  state.cacheCatalog.learn(
    [{ ref: 'bench@1', digest, sizeBytes: imageBytes, sources: [], ...facts }],
    Date.now(),
  );
  await state.close();
  return digest;
}

function startSite({ server }: Wire): Promise<ManagedProcess> {
  return startLoneSite({
    namespace: server.namespace,
    directory: siteDirectory,
    provisioning: {
      interface: server.interfaceName,
      address: server.address,
      prefixLength,
      poolStart: pool.first,
      poolEnd: pool.last,
    },
  });
}

async function read(
  { server }: Wire,
  { url, pid }: Server,
  readers: number,
  bytes: number,
): Promise<Reading> {
  const before = await cpuSeconds(pid);
  const args = [url, String(readers), String(bytes)];
  const found = await runIn(server.namespace, fromSource('test/bench/serve/readersProcess.ts', args), {
    timeoutMs: 300_000,
  });
  return {
    ...(JSON.parse(found) as Omit<Reading, 'cpuSeconds'>),
    cpuSeconds: (await cpuSeconds(pid)) - before,
  };
}

type Readings = Record<'ours' | 'nginx', Map<number, Reading[]>>;

/** Each reader reads the whole image, or its beginning: all of them together no more than 16 GiB, with `quick` 2 GiB. */
async function inTurn(
  wire: Wire,
  servers: Record<'ours' | 'nginx', Server>,
  { imageBytes, turns, quick }: { imageBytes: number; turns: number; quick: boolean },
  signal: AbortSignal,
): Promise<Readings> {
  const found: Readings = { ours: new Map(), nginx: new Map() };
  for (const readers of readerCounts)
    for (let turn = 0; turn < turns; turn++)
      for (const who of turn % 2 === 0 ? (['ours', 'nginx'] as const) : (['nginx', 'ours'] as const)) {
        signal.throwIfAborted();
        const bytes = Math.min(imageBytes, Math.floor(((quick ? 2048 : 16_384) * MiB) / readers));
        const reading = await read(wire, servers[who], readers, bytes);
        console.error(`${readers} readers, ${who}: ${JSON.stringify(reading)}`);
        found[who].set(readers, [...(found[who].get(readers) ?? []), reading]);
      }
  return found;
}

/** Machines ask for addresses over the wire, first while nobody reads, then while eight readers are at work. */
async function dhcpBeside(
  wire: Wire,
  perfdhcp: Parameters<typeof tryRate>[0],
  ours: Server,
  seconds: number,
): Promise<{ alone: Trial; whileServing: Trial }> {
  const asked = { rate: dhcpRate, seconds, clients: 200 };
  const alone = await tryRate(perfdhcp, wire, asked);
  const over = new AbortController();
  const load = (async () => {
    while (!over.signal.aborted) await read(wire, ours, 8, 256 * MiB);
  })();
  try {
    return { alone, whileServing: await tryRate(perfdhcp, wire, asked) };
  } finally {
    over.abort();
    await load;
  }
}

/** Of user and system; 100 ticks a second on every Linux that Node runs on (proc(5)). */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function peakMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

function findings(
  readings: Readings,
  dhcp: { alone: Trial; whileServing: Trial },
  { imageBytes, peakMiB }: { imageBytes: number; peakMiB: number },
) {
  const figure = (who: 'ours' | 'nginx', readers: number) => {
    const list = readings[who].get(readers) ?? [];
    const bytes = list[0]?.bytes ?? 0;
    return {
      mbPerSecond: Math.round(bytes / 1e6 / median(list.map(({ seconds }) => seconds))),
      cpuSecondsPerGiB: round(median(list.map(({ cpuSeconds }) => cpuSeconds)) / (bytes / 1024 ** 3)),
      p99StallMs: median(list.map(({ p99StallMs }) => p99StallMs)),
    };
  };
  const of = (who: 'ours' | 'nginx') =>
    Object.fromEntries(readerCounts.map((readers) => [`${readers} readers`, figure(who, readers)]));
  const ratio = (readers: number) =>
    round(figure('ours', readers).mbPerSecond / figure('nginx', readers).mbPerSecond);
  const ratios = Object.fromEntries(readerCounts.map((readers) => [`${readers} readers`, ratio(readers)]));
  return {
    bench: 'serve',
    ratio: { nginx: ratio(8) },
    ours: {
      ...of('ours'),
      dhcp,
      peakMiB,
    },
    peers: { nginx: { ...of('nginx'), oursAgainstIt: ratios } },
    machine: { ...thisMachine(), imageBytes, readers: readerCounts },
  };
}
