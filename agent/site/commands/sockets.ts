import type { Command } from 'commander';

/** `bcd site sockets`: the systemd sockets of this site. */
export function addSockets(site: Command): void {
  site
    .command('sockets')
    .description("write the systemd sockets of this site's interface and address")
    .option('--directory <directory>', 'where to write them; without it they are printed')
    .action((_options, command: Command) => sockets(command.optsWithGlobals()));
}

async function sockets(options: { config: string; directory?: string }): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { socketUnits, writeUnits } = await import('../socketUnits.ts');
  const units = socketUnits(await readConfig(options.config));
  if (options.directory !== undefined) await writeUnits(options.directory, units);
  else process.stdout.write(units.map(({ name, text }) => `# ${name}\n${text}`).join('\n'));
}
