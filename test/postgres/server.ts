import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { run } from '#base/command.ts';
import { type PostgresPrograms, postgresPrograms, programsIn } from './programs.ts';

/** A PostgreSQL server for tests: on a Unix socket only, in a temporary folder, as a user that is not root. */
export interface PostgresServer {
  /** The URL of its maintenance database; `newDatabase` makes others. */
  url: string;
  /** Ends the server and removes all that it had. */
  close(): Promise<void>;
}

/** Debian's `nobody`. */
const user = '65534';
const settings = {
  listen_addresses: '',
  shared_buffers: '64MB',
  max_connections: '200',
  dynamic_shared_memory_type: 'mmap',
};

/** What a test run keeps need not survive a power cut. */
const hasty = { fsync: 'off', full_page_writes: 'off' };

/** `durable`: with the guarantees of a server that is in use, for benchmarks. */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-postgres-'));
  await chown(folder, Number(user), Number(user));
  const programs = await readableCopy(await postgresPrograms(), path.join(folder, 'programs'));
  const options = { cwd: folder, env: { LD_LIBRARY_PATH: programs.libraries, PATH: process.env.PATH } };
  const data = path.join(folder, 'data');
  const flags = ['-U', 'railhead', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await run(...asUser(programs, 'initdb', ['-D', data, ...flags]), options);
  const switches = Object.entries({
    ...settings,
    ...(durable ? {} : hasty),
    unix_socket_directories: folder,
  });
  const args = ['-D', data, ...switches.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const server = spawn(...asUser(programs, 'postgres', args), {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilReady(server);
  return { url: `postgres:///postgres?host=${folder}&user=railhead`, close: () => stop(server, folder) };
}

/** The checkout may lie where only root may look, e.g. in its home: the server's user gets a copy of its own. */
async function readableCopy(programs: PostgresPrograms, to: string): Promise<PostgresPrograms> {
  await run('cp', ['-a', programs.root, to]);
  return programsIn(to, programs.version);
}

function asUser({ folder }: PostgresPrograms, program: string, args: readonly string[]): [string, string[]] {
  const identity = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  return ['setpriv', ['--pdeathsig', 'QUIT', ...identity, path.join(folder, program), ...args]];
}

/** @throws Error with what the server said when it ends instead */
async function untilReady(server: ChildProcess): Promise<void> {
  let said = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
    if (said.includes('ready to accept connections')) resolve();
  });
  server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
  server.once('error', reject);
  await promise;
}

/** Makes an empty database on the server whose maintenance database is at `serverUrl`, and returns its URL. */
export async function newDatabase(serverUrl: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client(serverUrl);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return serverUrl.replace('/postgres?', `/${name}?`);
}

async function stop(server: ChildProcess, folder: string): Promise<void> {
  const ended = once(server, 'exit');
  // SIGQUIT: at once; nothing of it is kept.
  server.kill('SIGQUIT');
  await ended;
  await rm(folder, { recursive: true });
}
