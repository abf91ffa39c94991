import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { RailheadError } from '#contract/errors.ts';
import { commandIn } from '../netns.ts';

const project = path.resolve(import.meta.dirname, '../..');

export interface ProcessOptions {
  namespace: string;
  command: readonly [program: string, ...args: string[]];
  /** Takes both standard output and standard error. */
  logFile: string;
  /** Talk to it over Node's IPC channel. */
  ipc?: boolean;
}

/** A program of the line, in a namespace of the rack. It ends with this process, however that ends. */
export interface ManagedProcess {
  readonly name: string;
  readonly child: ChildProcess;
  readonly running: boolean;
  /** Asks it to end and waits; a program that has not ended after 10 seconds is killed. */
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Rejects with the end of its log when it ends by itself; never resolves. */
  died(): Promise<never>;
}

const patience = 10_000;

/** The command that starts an entry file of the project, e.g. `cli/railhead.ts`, from source. */
export function fromSource(entry: string, args: readonly string[]): [string, ...string[]] {
  return [process.execPath, path.join(project, entry), ...args];
}

export function startProcess(options: ProcessOptions): ManagedProcess {
  const { command, namespace, logFile, ipc = false } = options;
  const [program, rest] = commandIn(namespace, ['setpriv', '--pdeathsig', 'KILL', ...command]);
  const log = openSync(logFile, 'a');
  const child = spawn(program, rest, { stdio: ['ignore', log, log, ...(ipc ? (['ipc'] as const) : [])] });
  closeSync(log);
  return manage(child, command.slice(0, 2).join(' '), logFile);
}

function manage(child: ChildProcess, name: string, logFile: string): ManagedProcess {
  const exited = once(child, 'exit');
  let expected = false;
  const end = async (signal: NodeJS.Signals) => {
    expected = true;
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  return {
    name,
    child,
    get running() {
      return child.exitCode === null && child.signalCode === null;
    },
    async stop() {
      const killer = setTimeout(() => child.kill('SIGKILL'), patience);
      await end('SIGTERM');
      clearTimeout(killer);
    },
    kill: () => end('SIGKILL'),
    async died() {
      const [status, signal] = await exited;
      if (expected) return new Promise<never>(() => {});
      throw await endedEarly(name, logFile, status ?? signal);
    },
  };
}

async function endedEarly(name: string, logFile: string, how: unknown): Promise<RailheadError> {
  const log = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-20);
  return new RailheadError(
    'UNAVAILABLE',
    `${name} ended (${how}); the end of ${logFile}:\n${log.join('\n')}`,
    {
      reason: 'process-ended',
    },
  );
}
