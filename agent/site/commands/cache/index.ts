import type { Command } from 'commander';
import { addChanges } from './change.ts';
import { addGarbage } from './garbage.ts';
import { addImport } from './import.ts';
import { addList } from './list.ts';
import { addShow } from './show.ts';
import { addWatched } from './watched.ts';

const commands: readonly ((cache: Command) => void)[] = [
  addList,
  addShow,
  addWatched,
  addChanges,
  addGarbage,
  addImport,
];

/** `bcd site cache`: what is in the image cache of the agent that runs here, and what an operator may do to it. */
export function addCache(site: Command): void {
  const cache = site
    .command('cache')
    .description('look at and change the image cache of the running agent, over its local socket');
  for (const add of commands) add(cache);
}
