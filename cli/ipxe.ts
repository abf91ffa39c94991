import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { fetchIpxe, readManifest } from '#bootserver/ipxePackage.ts';
import { RailheadError } from '#contract/errors.ts';
import { type IpxeManifest, untriedFiles } from '#ipxe/debianPackage.ts';

interface DirectoryOption {
  directory: string;
}

/** `railhead ipxe …`: the boot loaders that a site serves. */
export function ipxeCommand(): Command {
  const ipxe = new Command('ipxe').description('the iPXE binaries that a site serves');
  ipxe.addCommand(refreshCommand());
  ipxe.addCommand(listCommand());
  return ipxe;
}

function withDirectory(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--directory <path>', 'where the binaries are', '.cache/ipxe');
}

function refreshCommand(): Command {
  return withDirectory('refresh', "fetch them from Debian's package, checked by apt")
    .option('--cache <path>', 'where Debian packages are kept', '.cache/debian')
    .action(async ({ directory, cache }: DirectoryOption & { cache: string }) => {
      const progress = (line: string) => console.error(line);
      report(
        await fetchIpxe({ directory, cacheDirectory: cache, refresh: true, progress }),
        await triedManifest(),
      );
    });
}

function listCommand(): Command {
  return withDirectory('list', 'version and sha256 of each').action(
    async ({ directory }: DirectoryOption) => {
      const manifest = await readManifest(directory);
      if (manifest === undefined)
        throw new RailheadError('NOT_FOUND', `no iPXE in ${directory}: run "railhead ipxe refresh"`, {
          directory,
        });
      report(manifest, await triedManifest());
    },
  );
}

/** A newer package is used all the same: the archive's signature vouches for it, `ipxe/known.json` says what was tried. */
function report(found: IpxeManifest, tried: IpxeManifest): void {
  const untried = untriedFiles(found, tried);
  console.log(`ipxe ${found.version}`);
  for (const [name, digest] of Object.entries(found.files))
    console.log(`${digest}  ${name}${untried.includes(name) ? '  (not the one that was tried)' : ''}`);
  if (untried.length > 0)
    console.log(`tried was ${tried.version}; run the end-to-end cases, then update ipxe/known.json`);
}

async function triedManifest(): Promise<IpxeManifest> {
  return JSON.parse(await readFile(new URL('../ipxe/known.json', import.meta.url), 'utf8')) as IpxeManifest;
}
