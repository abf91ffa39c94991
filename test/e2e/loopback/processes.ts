import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { clockEnvironment, forgetClock } from './fakeClock.ts';

const programs = path.resolve(import.meta.dirname, '../../../bin');

export interface StartOptions {
  /** How far the process's clock is moved, e.g. `+35d` or `-1d`. */
  clock?: string | undefined;
}

/** One of the project's programs as a process of its own. */
export interface RunningProgram {
  /** Every line that it wrote, on both of its outputs. */
  lines: readonly string[];
  /** Resolves with the first line, past or future, that has `text`. */
  line(text: string, timeoutMs?: number): Promise<string>;
  /** As a service manager would. */
  stop(): Promise<void>;
  /** As a power cut would. */
  kill(): Promise<void>;
  /** Its exit status. */
  ended: Promise<number | null>;
}

export async function startProgram(
  program: 'bcd' | 'railhead',
  args: readonly string[],
  { clock }: StartOptions = {},
): Promise<RunningProgram> {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...(await clockEnvironment(clock)) };
  const child = spawn(path.join(programs, program), args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const ended = once(child, 'close').then(([status]) => {
    if (clock !== undefined) forgetClock(child.pid);
    return status as number | null;
  });
  const { lines, written } = collect(child, ended);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return {
    lines,
    ended,
    line: (text, timeoutMs = 60_000) =>
      awaitLine(`${program} ${args[0]}`, { lines, written, text, timeoutMs }),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

export interface Finished {
  status: number | null;
  output: string;
}

/** Runs a program to its end. */
export async function runProgram(
  program: 'bcd' | 'railhead',
  args: readonly string[],
  options: StartOptions = {},
): Promise<Finished> {
  const running = await startProgram(program, args, options);
  return { status: await running.ended, output: running.lines.join('\n') };
}

function collect(child: ChildProcess, ended: Promise<unknown>) {
  const lines: string[] = [];
  const written = new EventEmitter().setMaxListeners(0);
  for (const input of [child.stdout, child.stderr])
    createInterface({ input: input as NodeJS.ReadableStream }).on('line', (line) => {
      lines.push(line);
      written.emit('line');
    });
  ended.then(() => written.emit('line'));
  return { lines, written };
}

async function awaitLine(
  what: string,
  {
    lines,
    written,
    text,
    timeoutMs,
  }: { lines: string[]; written: EventEmitter; text: string; timeoutMs: number },
): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  for (;;) {
    const found = lines.find((line) => line.includes(text));
    if (found !== undefined) return found;
    await once(written, 'line', { signal: timeout }).catch(() => {
      throw new Error(`${what} never wrote '${text}':\n${lines.slice(-20).join('\n')}`);
    });
  }
}
