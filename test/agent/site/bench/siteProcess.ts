import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

const launcher = path.join(import.meta.dirname, '../../../../bin/bcd');

/** `bcd site` as a process of its own, started by the real launcher. */
export interface SiteProcess {
  /** Ends it as a power cut would. */
  kill(): void;
  ended: Promise<unknown>;
  pid: number;
  /** Everything that it has written, line by line. */
  log: readonly string[];
}

/** Starts the agent and resolves once it says that it is ready. */
export async function spawnSite(configFile: string): Promise<SiteProcess> {
  const child = spawn(launcher, ['site', '--config', configFile], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const log: string[] = [];
  await readiness(child, ended, log);
  return { kill: () => void child.kill('SIGKILL'), ended, pid: child.pid as number, log };
}

async function readiness(child: ChildProcess, ended: Promise<unknown>, lines: string[]): Promise<void> {
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => lines.push(line));
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      lines.push(line);
      if (line.includes('"site agent is ready"')) resolve();
    });
  });
  const died = ended.then(() => {
    throw new Error(`bcd site ended before it was ready:\n${lines.join('\n')}`);
  });
  await Promise.race([ready, died]);
  died.catch(() => {});
}
