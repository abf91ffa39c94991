import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { isENOENT, systemCode } from '#base/errors.ts';
import { openMemoryFile } from '#base/libc.ts';
import { RailheadError } from '#contract/errors.ts';

/** How one run of ipmitool ended. */
export interface ToolRun {
  /** Undefined when it was stopped: it took too long, or its caller gave up. */
  status: number | undefined;
  stdout: string;
  stderr: string;
}

export interface ToolOptions {
  /** The program, found by PATH unless it is a path. */
  program: string;
  args: readonly string[];
  password: string;
  /** What the program reads as `commandsFile`. */
  commands?: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** More than any answer of a BMC is long; what is beyond is dropped. */
const mostBytes = 4 * 1024 * 1024;
/** The descriptors by which the program reads the password, and commands that show nowhere. */
export const [passwordFile, commandsFile] = ['/proc/self/fd/3', '/proc/self/fd/4'];

/**
 * Runs ipmitool once, to its end or `timeoutMs`. The password, and commands that hold another one, go by files in memory that have no name:
 * they are in no argument, no environment and on no disk.
 * @throws RailheadError UNSUPPORTED (`ipmitool-missing`)
 */
export async function runTool(options: ToolOptions): Promise<ToolRun> {
  const { program, args, password, commands, timeoutMs, signal } = options;
  const files: number[] = [];
  try {
    for (const text of commands === undefined ? [password] : [password, commands]) files.push(inMemory(text));
    return await ended(program, args, files, stopAfter(timeoutMs, signal));
  } catch (error) {
    throw isENOENT(error) || systemCode(error) === 'EACCES' ? missing(program, error) : error;
  } finally {
    files.forEach(closeSync);
  }
}

function inMemory(text: string): number {
  const fd = openMemoryFile('railhead-ipmi');
  writeSync(fd, text);
  return fd;
}

/** A run of ipmitool that is spoken with; its end is for whoever started it to see. */
export type RunningTool = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts ipmitool for as long as it takes. The password goes as with `runTool`. */
export function startTool({
  program,
  args,
  password,
}: Pick<ToolOptions, 'program' | 'args' | 'password'>): RunningTool {
  const fd = inMemory(password);
  try {
    return spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe', fd],
      env: toolEnvironment(),
    }) as RunningTool;
  } finally {
    closeSync(fd);
  }
}

/** One language for its messages, no clock but the BMC's, and nothing of the agent's own environment but where programs are. */
function toolEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', HOME: '/nonexistent' };
}

function stopAfter(timeoutMs: number, signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(Math.max(1, Math.min(timeoutMs, 2 ** 31 - 1)));
  return signal === undefined ? limit : AbortSignal.any([limit, signal]);
}

function ended(
  program: string,
  args: readonly string[],
  files: readonly number[],
  stop: AbortSignal,
): Promise<ToolRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe', ...files],
      env: toolEnvironment(),
      // A group of its own, which ends as one: the program may be a script that starts ipmitool.
      detached: true,
    });
    const end = () => endGroup(child.pid);
    stop.addEventListener('abort', end, { once: true });
    if (stop.aborted) end();
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        if (texts[name].length < mostBytes) texts[name] += text;
      });
    child.once('error', (error) => {
      if (!stop.aborted) reject(error);
    });
    child.once('close', (status) => {
      stop.removeEventListener('abort', end);
      resolve({ status: stop.aborted ? undefined : (status ?? undefined), ...texts });
    });
  });
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

export function missing(program: string, cause: unknown): RailheadError {
  const message = `this site cannot run ${program}: install Debian's package ipmitool, or say where it is by bmc.ipmitool`;
  return new RailheadError('UNSUPPORTED', message, { reason: 'ipmitool-missing', program }, cause);
}
