import type { Command } from 'commander';
import { addBootCa } from './bootCa.ts';
import { addCache } from './cache/index.ts';
import { addConfirm } from './confirm.ts';
import { addConsole } from './console.ts';
import { addImport } from './import.ts';
import { addMachines } from './machines.ts';
import { addRedfish } from './redfish.ts';
import { addSockets } from './sockets.ts';
import { addTrace } from './trace.ts';
import { addTrustBmc } from './trustBmc.ts';

const commands: readonly ((site: Command) => void)[] = [
  addSockets,
  addImport,
  addCache,
  addMachines,
  addTrace,
  addConfirm,
  addRedfish,
  addConsole,
  addTrustBmc,
  addBootCa,
];

/** The commands below `bcd site`: one file each, which loads what it needs when it is asked for. */
export function addSiteCommands(site: Command): void {
  for (const add of commands) add(site);
}
