import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

const project = path.resolve(import.meta.dirname, '../../..');

export interface Running {
  /** The line of its log that said that it runs. */
  ready: Record<string, unknown>;
  stop(): Promise<void>;
}

/** Starts a program of the project and resolves once its log says `message`. */
export async function start(program: string, args: string[], message: string): Promise<Running> {
  const child = launch(program, args);
  const exited = once(child, 'exit');
  const complaint = text(child.stderr as Readable);
  const ready = new Promise<Record<string, unknown>>((resolve) => {
    createInterface({ input: child.stdout as Readable }).on('line', (line) => {
      if (line.includes(message)) resolve(JSON.parse(line) as Record<string, unknown>);
    });
  });
  const died = exited.then(async () => {
    throw new Error(`${program} ${args[0]} ended before it was ready: ${await complaint}`);
  });
  died.catch(() => {});
  return {
    ready: await Promise.race([ready, died]),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Runs a program of the project to its end, and returns what it printed. */
export async function runProgram(program: string, args: string[]): Promise<string> {
  const child = launch(program, args);
  const exited = once(child, 'exit');
  const [printed, complaint] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
  ]);
  const [status] = await exited;
  if (status !== 0) throw new Error(`${program} ${args[0]} ended with ${status}: ${complaint}`);
  return printed;
}

function launch(program: string, args: string[]): ChildProcess {
  return spawn(process.execPath, [path.join(project, program), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
