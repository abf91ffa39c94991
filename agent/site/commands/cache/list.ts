import type { Command } from 'commander';
import type { CacheListing } from './localAgent.ts';
import { opened, withFormat } from './options.ts';

export function addList(cache: Command): void {
  withFormat(
    cache.command('list').description('every image of the cache, its state, and what ails the cache'),
  ).action((_options, command: Command) => list(command));
}

async function list(command: Command): Promise<void> {
  const { options, agent } = await opened(command);
  const listing = await agent.get<CacheListing>('/v1/cache');
  const { listText } = await import('./print.ts');
  const lines = options.format === 'json' ? [JSON.stringify(listing, null, 2)] : listText(listing);
  process.stdout.write(`${lines.join('\n')}\n`);
}
