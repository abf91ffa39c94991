import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { answers } from '#central/answers/index.ts';
import { parseGrant } from '#central/api/grants.ts';
import { createToken } from '#central/api/tokens.ts';
import { images } from '#central/groups/images.ts';
import { makeCentre, onHost } from '#central/host.ts';
import { newDatabase, startPostgres } from '../postgres/server.ts';
import { type Benchmark, median, round, thisMachine } from './benchmark.ts';
import { fillBooks, imageId, tenantId } from './catalog/books.ts';
import { type Amounts, apiCalls, timedCalls } from './catalog/calls.ts';
import type { Latency } from './catalog/latency.ts';
import { requestsPerSecond } from './catalog/load.ts';
import { type ServerProcess, startServer } from './catalog/serverProcess.ts';

/** The catalog's calls on SQLite and PostgreSQL, and `images.get` against a route of Fastify that does nothing. */
export const catalog: Benchmark = {
  name: 'catalog',
  about: "the centre's catalog on SQLite and PostgreSQL; images.get against a bare Fastify route",
  run: async (quick, signal) => {
    const amounts = quick
      ? { images: 20_000, times: 60, limit: 20 }
      : { images: 100_000, times: 500, limit: 50 };
    const turns = quick ? 3 : 9;
    const onSqlite = await withBooks(undefined, amounts, turns, signal);
    const server = await startPostgres({ durable: true });
    try {
      const onPostgres = await withBooks(
        await newDatabase(server.url),
        amounts,
        Math.ceil(turns / 3),
        signal,
      );
      return findings(amounts, onSqlite, onPostgres);
    } finally {
      await server.close();
    }
  },
};

interface Measured {
  calls: Record<string, Latency>;
  /** `images.get` a second, of the centre and of the bare route, in turn. */
  getPerSecond: number[];
  barePerSecond: number[];
}

function findings(amounts: Amounts, onSqlite: Measured, onPostgres: Measured) {
  const figures = ({ calls, getPerSecond }: Measured) => ({
    ms: calls,
    getPerSecond: Math.round(median(getPerSecond)),
  });
  const ratio = ({ getPerSecond, barePerSecond }: Measured) =>
    round(median(getPerSecond.map((ours, turn) => ours / (barePerSecond[turn] ?? Number.NaN))));
  return {
    bench: 'catalog',
    ratio: { 'bare-fastify': ratio(onSqlite) },
    ours: {
      sqlite: figures(onSqlite),
      postgres: { ...figures(onPostgres), ofBareFastify: ratio(onPostgres) },
    },
    peers: { 'bare-fastify': { getPerSecond: Math.round(median(onSqlite.barePerSecond)) } },
    machine: { ...thisMachine(), images: amounts.images, profiles: amounts.images / 10 },
  };
}

async function withBooks(
  database: string | undefined,
  amounts: Amounts,
  turns: number,
  signal: AbortSignal,
): Promise<Measured> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-bench-'));
  const servers: ServerProcess[] = [];
  try {
    await makeCentre(directory, database);
    const token = await filledBooks(directory, amounts);
    const centre = await startServer('centre.ts', directory);
    servers.push(centre);
    const call = apiCalls(centre.port, token);
    console.error(`${database === undefined ? 'SQLite' : 'PostgreSQL'}: timing calls`);
    const calls = await timedCalls(call, amounts);
    const get = { tenantId, imageId: imageId(amounts.images / 2 + 1) };
    const bare = await bareRoute(await call('images.get', get));
    servers.push(bare);
    return { calls, ...(await race(centre.port, bare.port, token, get, turns, signal)) };
  } finally {
    for (const server of servers) await server.stop();
    await rm(directory, { recursive: true });
  }
}

function filledBooks(directory: string, { images }: Amounts): Promise<string> {
  return onHost(directory, async ({ store }) => {
    console.error(`filling the books with ${images} images and ${images / 10} profiles`);
    await fillBooks(store, { images, profiles: images / 10 });
    const grants = [parseGrant('compute:*@compute-fleet:*')];
    const { token } = await createToken(store, { name: 'bench', grants, validMs: 3_600_000 });
    return token;
  });
}

/** Fastify with the schemas of `images.get` and a constant answer. */
function bareRoute(data: object): Promise<ServerProcess> {
  const schemas = [images.get?.input, answers.images?.get].map((schema) => JSON.stringify(schema));
  return startServer('bareFastify.ts', '/api/compute/images/get', ...schemas, JSON.stringify(data));
}

/** Loads the two in turn, so that what else the machine does falls on both. */
async function race(
  ours: number,
  bare: number,
  token: string,
  get: object,
  turns: number,
  signal: AbortSignal,
): Promise<Pick<Measured, 'getPerSecond' | 'barePerSecond'>> {
  const request = { path: '/api/compute/images/get', token, body: JSON.stringify(get) };
  const load = (port: number, seconds: number) =>
    requestsPerSecond({ ...request, port }, { connections: 16, seconds });
  const figures = { getPerSecond: [] as number[], barePerSecond: [] as number[] };
  for (const port of [ours, bare]) await load(port, 1); // Until the machine code is made.
  for (let turn = 0; turn < turns; turn++) {
    signal.throwIfAborted();
    figures.getPerSecond.push(await load(ours, 1));
    figures.barePerSecond.push(await load(bare, 1));
  }
  return figures;
}
