import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A server as a process of its own, so that what measures it does not slow it. */
export interface ServerProcess {
  port: number;
  stop(): Promise<void>;
}

/** Starts a file of this folder, which prints `{"port"}` when it listens. */
export async function startServer(file: string, ...args: string[]): Promise<ServerProcess> {
  const entry = path.join(import.meta.dirname, file);
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const line = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [first] = await Promise.race([line, exit.then(() => ['{}'])]);
  const { port } = JSON.parse(first) as { port?: number };
  if (port === undefined) throw new Error(`${file} did not start`);
  const stop = async () => {
    child.kill();
    await exit;
  };
  return { port, stop };
}
