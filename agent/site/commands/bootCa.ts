import type { Command } from 'commander';

/** `bcd site boot-ca`: what firmware is to trust for HTTPS boot. */
export function addBootCa(site: Command): void {
  site
    .command('boot-ca')
    .description('print the CA to enrol in firmware for HTTPS boot (PEM)')
    .action((_options, command: Command) => bootCa(command.optsWithGlobals()));
}

async function bootCa(options: { config: string }): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { readBootAuthority } = await import('../bootTls/kept.ts');
  const { stateDirectory } = await readConfig(options.config);
  process.stdout.write(`${(await readBootAuthority(stateDirectory)).trim()}\n`);
}
