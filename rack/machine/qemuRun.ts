import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import { RailheadError } from '#contract/errors.ts';
import { commandIn } from '../netns.ts';
import { Qmp } from '../qmp/client.ts';
import { qmpDescriptor } from './commandLine.ts';
import { type EndOfRun, endOfRun } from './endOfRun.ts';

/** One life of a QEMU process. */
export interface QemuRun {
  qmp: Qmp;
  console: { output: Readable; input: Writable };
  /** Settles when the process is gone. */
  ended: Promise<EndOfRun>;
  /** Ends it at once, as a pulled plug does. */
  kill(): Promise<void>;
}

/** QEMU gets this long to obey `quit` before it is killed. */
const quitMs = 3000;

/**
 * Starts QEMU (`command`: the program and all its arguments) in a namespace, standing still before its first instruction; the kernel kills it when this process dies,
 * however that happens.
 * @throws RailheadError DRIVER_ERROR with what QEMU wrote when it does not start
 */
export async function startQemu(namespace: string, command: readonly string[]): Promise<QemuRun> {
  const [program, all] = commandIn(namespace, ['setpriv', '--pdeathsig', 'KILL', ...command]);
  const child = spawn(program, all, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  const complaints = collect(child.stderr);
  const qmp = new Qmp(child.stdio[qmpDescriptor] as Duplex);
  const ended = endOf(child, qmp);
  child.stdin.on('error', () => {});
  try {
    await qmp.negotiate();
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw notStarted(complaints(), error);
  }
  return {
    qmp,
    console: { output: child.stdout, input: child.stdin },
    ended,
    kill: () => quit(child, qmp, ended),
  };
}

function endOf(child: ChildProcess, qmp: Qmp): Promise<EndOfRun> {
  let reason: string | undefined;
  qmp.on('event', (name, data) => {
    if (name === 'SHUTDOWN') reason = String(data.reason);
  });
  const { promise, resolve } = Promise.withResolvers<EndOfRun>();
  child.once('error', () => resolve('off'));
  // `close` comes after all of its output was read, the SHUTDOWN event included.
  child.once('close', () => resolve(endOfRun(reason)));
  return promise;
}

async function quit(child: ChildProcess, qmp: Qmp, ended: Promise<EndOfRun>): Promise<void> {
  qmp.execute('quit').catch(() => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), quitMs);
  await ended;
  clearTimeout(timer);
}

function collect(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(-4000);
  });
  return () => text.trim();
}

function notStarted(complaint: string, cause: unknown): RailheadError {
  const reason = complaint || (cause instanceof Error ? cause.message : String(cause));
  return new RailheadError('DRIVER_ERROR', `QEMU did not start: ${reason}`, { reason: 'qemu-start' }, cause);
}
