import type { Command } from 'commander';
import type { Garbage } from '#cache/garbage.ts';
import { type CacheOptions, opened, withFormat } from './options.ts';
import { inUnits } from './print.ts';

type Options = CacheOptions & { unused?: true; dryRun?: true };

export function addGarbage(cache: Command): void {
  withFormat(
    cache
      .command('gc')
      .description('free what is in quarantine and what exceeds the quota')
      .option('--unused', 'also every image that is neither desired, pinned nor in use')
      .option('--dry-run', 'only tell what would go'),
  ).action(async (_options, command: Command) => {
    const { options, agent } = await opened<Options>(command);
    const { unused = false, dryRun = false, format } = options;
    const garbage = await agent.post<Garbage>('/v1/cache/gc', { unused, dryRun });
    const lines = format === 'json' ? [JSON.stringify(garbage, null, 2)] : garbageText(garbage, dryRun);
    process.stdout.write(`${lines.join('\n')}\n`);
  });
}

function garbageText({ images, imageBytes, quarantineBytes }: Garbage, dryRun: boolean): string[] {
  const went = dryRun ? 'would go' : 'went';
  return [
    ...images.map(({ ref, digest, sizeBytes }) => `${ref}  ${digest.slice(0, 12)}  ${inUnits(sizeBytes)}`),
    `${images.length} images (${inUnits(imageBytes)}) and ${inUnits(quarantineBytes)} of quarantine ${went}`,
  ];
}
