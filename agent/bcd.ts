import type { Closable } from '#base/shutdown.ts';
import { visible } from '#base/visible.ts';
import { RailheadError, toWireError } from '#contract/errors.ts';
import type { JoinOptions } from './join/join.ts';
import { bcdProgram } from './program.ts';

/**
 * The daemon's entry file: the only one of `agent/` that reads flags and the environment, and that ends the process.
 * Each mode is imported when it is asked for, so that a ramdisk does not load what a site needs.
 */
const program = bcdProgram({ site, ramdisk, node, join });

async function site(options: { config: string; check?: true }): Promise<void> {
  const { readConfig } = await import('./site/config.ts');
  const config = await readConfig(options.config);
  if (options.check) {
    process.stdout.write(`${options.config}: valid\n`);
    return;
  }
  const { startSite } = await import('./site/site.ts');
  await runUntilStopped(() => startSite(config, process.env));
}

async function ramdisk(): Promise<void> {
  const { runRamdisk } = await import('#ramdisk/main.ts');
  await runRamdisk();
}

async function node(options: { config: string }): Promise<void> {
  const { readNodeConfig } = await import('./node/config.ts');
  const config = await readNodeConfig(options.config);
  const { startNode } = await import('./node/node.ts');
  await runUntilStopped(() => startNode(config));
}

async function join(options: JoinOptions): Promise<void> {
  const { join } = await import('./join/join.ts');
  const identity = await join(options);
  process.stdout.write(`joined ${options.server} as ${identity.role} ${identity.nodeId}\n`);
}

async function runUntilStopped(start: () => Promise<Closable>): Promise<void> {
  const { stopSignal } = await import('#base/shutdown.ts');
  const { forbidMemoryDumps } = await import('#base/libc.ts');
  forbidMemoryDumps();
  const stopped = stopSignal();
  const running = await start();
  await stopped;
  await running.close();
  // A connection that hangs in the middle of its closing must not keep a stopped daemon alive.
  process.exit(0);
}

function fail(error: unknown): void {
  const { code, message, details } = toWireError(error);
  process.stderr.write(`bcd: ${code}: ${visible(message)}\n`);
  if (details !== undefined) process.stderr.write(`${JSON.stringify(details)}\n`);
  if (!(error instanceof RailheadError))
    process.stderr.write(`${String((error as Error)?.stack ?? error)}\n`);
  process.exitCode = 1;
}

program.parseAsync(process.argv).catch(fail);
