import type { Command } from 'commander';
import type { ImportFormat } from '../import/importConfig.ts';

interface ImportFlags {
  address: string;
  interface?: string;
  format?: ImportFormat;
  output?: string;
}

/** `bcd site import`: the configuration of another DHCP server as that of a site. */
export function addImport(site: Command): void {
  site
    .command('import <file>')
    .description('make a config.toml of the configuration of dnsmasq, ISC dhcpd or Kea')
    .requiredOption('--address <address>', "the site's own address, in one of the file's networks")
    .option('--interface <name>', 'the interface that DHCP is served on, if the file does not say it')
    .option('--format <format>', 'dnsmasq, isc or kea; found by its look when left out')
    .option('--output <file>', 'a new file to write; without it the configuration is printed')
    .action(importFile);
}

async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const { readConfigText } = await import('../../toml.ts');
  const { importConfig } = await import('../import/importConfig.ts');
  const { toml, left } = importConfig(await readConfigText(file), flags, await chosenFormat(flags.format));
  if (flags.output === undefined) process.stdout.write(toml);
  else await writeNew(flags.output, toml);
  for (const { where, what, why } of left)
    process.stderr.write(`not taken over: ${where}: ${what}: ${why}\n`);
}

async function chosenFormat(format: string | undefined): Promise<ImportFormat | undefined> {
  const { importFormats } = await import('../import/importConfig.ts');
  const { RailheadError } = await import('#contract/errors.ts');
  const found = importFormats.find((name) => name === format);
  if (format === undefined || found !== undefined) return found;
  const expected = importFormats.join(', ');
  throw new RailheadError('INVALID_INPUT', `--format: must be one of ${expected}`, {
    path: 'format',
    expected,
  });
}

/** @throws RailheadError CONFLICT when the file is there: a configuration in use is not overwritten */
async function writeNew(file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  const { systemCode } = await import('#base/errors.ts');
  const { RailheadError } = await import('#contract/errors.ts');
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new RailheadError('CONFLICT', `${file} is there already: name a new file`, { path: file });
  }
}
