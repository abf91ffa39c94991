import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#base/clock.ts';
import { makeCentre, onHost } from '#central/host.ts';
import { issueServer } from '#central/join/authority.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { openKeys } from '#central/join/keys.ts';
import { wellKnown } from '#central/join/pins.ts';
import { createSite } from '#central/sites.ts';
import { type Benchmark, round, thisMachine } from './benchmark.ts';
import type { NewSite } from './join/clientProcess.ts';
import { startWorker, type Worker } from './join/worker.ts';

/**
 * How many sites join the centre in a second (TLS, token, certificate, books), and how much memory it takes to hold their long polls, each over
 * a connection of its own with mutual TLS; against a bare Fastify that holds as many.
 */
export const join: Benchmark = {
  name: 'join',
  about: 'sites that join per second, and long polls held per MiB by the centre, against a bare Fastify',
  run: benchJoin,
};

const clientProcesses = 2;
const settleMs = 500;

async function benchJoin(quick: boolean, signal: AbortSignal) {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-bench-'));
  const workers: Worker[] = [];
  const start = (file: string, ...args: string[]) => {
    const worker = startWorker(fileURLToPath(new URL(`./join/${file}`, import.meta.url)), ...args);
    workers.push(worker);
    return worker;
  };
  try {
    return await inTurn(quick ? 500 : 10_000, directory, start, signal);
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
    await rm(directory, { recursive: true });
  }
}

type Start = (file: string, ...args: string[]) => Worker;

async function inTurn(connections: number, directory: string, start: Start, signal: AbortSignal) {
  await makeCentre(directory);
  const bare = start('bareProcess.ts', await bareServerFile(directory));
  const clients = Array.from({ length: clientProcesses }, () => start('clientProcess.ts'));
  progress(`${connections} sites make their keys`);
  await prepare(directory, connections, clients);
  signal.throwIfAborted();
  progress('they join');
  const joinSeconds = await joined(start('centreProcess.ts', directory), clients);
  signal.throwIfAborted();
  progress('they hold a long poll each');
  const ours = await held(start('centreProcess.ts', directory), clients, true);
  signal.throwIfAborted();
  progress('they hold one each at a bare Fastify');
  const peer = await held(bare, clients, false);
  const machine = {
    ...thisMachine(),
    connections,
    clientProcesses,
    transport: 'loopback, TLS 1.3, client certificates',
  };
  return {
    bench: 'join',
    ratio: { 'bare-fastify-tls': round(ours.heldPerMiB / peer.heldPerMiB) },
    ours: { joinsPerSecond: round(connections / joinSeconds), ...ours },
    peers: { 'bare-fastify-tls': peer },
    machine,
  };
}

/** Puts sites with tokens into the books, and has the clients make what each needs to join. */
async function prepare(directory: string, count: number, clients: readonly Worker[]): Promise<void> {
  const newSites = await onHost(directory, ({ store }) =>
    store.transaction().execute(async (queries) => {
      const made: NewSite[] = [];
      for (let number = 0; number < count; number++) {
        const { site_id: siteId } = await createSite(queries, `bench-${number}`);
        const binding = { role: 'site', nodeId: siteId, validMs: 3_600_000 } as const;
        made.push({ siteId, joinToken: (await createJoinToken(queries, binding)).token });
      }
      return made;
    }),
  );
  const trusted = wellKnown(await openKeys(directory));
  const share = Math.ceil(count / clients.length);
  await Promise.all(
    clients.map((client, at) =>
      client.call('prepare', { newSites: newSites.slice(at * share, (at + 1) * share), wellKnown: trusted }),
    ),
  );
}

/** The peer's certificate, made here so that it loads nothing of ours. */
async function bareServerFile(directory: string): Promise<string> {
  const { authority } = await openKeys(directory);
  const own = await issueServer(authority, { uri: 'urn:bare', names: ['127.0.0.1'], validMs: 3_600_000 });
  const file = path.join(directory, 'bare.json');
  await writeFile(
    file,
    JSON.stringify({ key: own.privateKey, cert: own.certificate, ca: authority.certificate }),
  );
  return file;
}

async function joined(centre: Worker, clients: readonly Worker[]): Promise<number> {
  const { url } = await centre.call<{ url: string }>('url');
  const seconds = await timed(() => all(clients, 'join', { url }));
  await centre.end();
  return seconds;
}

/**
 * What a server that has just started takes to hold the polls of all clients. `hasNews`: it answers the first of each at once. Its memory is that
 * of the second half of the connections: what it takes once, whatever their number, comes with the first half.
 */
async function held(server: Worker, clients: readonly Worker[], hasNews: boolean) {
  const { url } = await server.call<{ url: string }>('url');
  const half = { url, hasNews, share: 0.5 };
  const firstSeconds = await timed(() => all(clients, 'hold', half));
  const first = await settled(server, clients);
  const seconds = firstSeconds + (await timed(() => all(clients, 'hold', half)));
  const second = await settled(server, clients);
  await all(clients, 'drop');
  await server.end();
  const [more, grownMiB] = [second.held - first.held, second.mib - first.mib];
  return {
    held: second.held,
    connectSeconds: round(seconds),
    mibHolding: Math.round(second.mib),
    kibPerConnection: round((grownMiB * 1024) / more),
    heldPerMiB: round(more / grownMiB),
  };
}

async function settled(server: Worker, clients: readonly Worker[]): Promise<{ mib: number; held: number }> {
  await systemClock.sleep(settleMs);
  const { mib } = await server.call<{ mib: number }>('memory');
  const counts = await all<{ held: number }>(clients, 'count');
  return { mib, held: counts.reduce((sum, one) => sum + one.held, 0) };
}

function all<Answer>(clients: readonly Worker[], command: string, input?: object): Promise<Answer[]> {
  return Promise.all(clients.map((client) => client.call<Answer>(command, input)));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

function progress(text: string): void {
  console.error(`  ${text}`);
}
