import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { writeDurably } from '#base/durableFile.ts';
import { fetchShim } from '#bootserver/shimPackage.ts';
import { makeKeys, openKeys } from '#secureboot/keys.ts';
import { makeMedium } from '#secureboot/medium.ts';
import { signProgram } from '#secureboot/sign.ts';
import { collect } from './central/options.ts';

const progress = (line: string) => console.error(line);

/** `railhead secure-boot …`: what machines with Secure Boot on are booted by. */
export function secureBootCommand(): Command {
  return new Command('secure-boot')
    .description('shim and GRUB, and keys of your own, for machines with Secure Boot on')
    .addCommand(refreshCommand())
    .addCommand(keysCommand())
    .addCommand(mediumCommand())
    .addCommand(signCommand());
}

function withCache(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--cache <path>', 'where Debian packages are kept', '.cache/debian');
}

function refreshCommand(): Command {
  return withCache('refresh', "fetch shim and GRUB from Debian's packages, checked by apt")
    .option('--directory <path>', 'where they go, for boot.shimDirectory', '.cache/shim')
    .action(async ({ directory, cache }: { directory: string; cache: string }) => {
      const architectures = ['amd64', 'arm64'] as const;
      const found = await fetchShim({
        directory,
        cacheDirectory: cache,
        refresh: true,
        architectures,
        progress,
      });
      console.log(found.version);
      for (const [name, digest] of Object.entries(found.files)) console.log(`${digest}  ${name}`);
    });
}

function keysCommand(): Command {
  return new Command('keys')
    .description('make keys of your own: PK, KEK and db, with certificates')
    .requiredOption('--directory <path>', 'a new folder; keep it where nobody reads it')
    .requiredOption('--name <text>', 'of your organisation, for the certificates')
    .action(async ({ directory, name }: { directory: string; name: string }) => {
      await makeKeys(directory, name);
      console.log(`keys are in ${directory}: db.key signs, PK.key and KEK.key change what machines believe`);
    });
}

interface MediumFlags {
  keys: string;
  trust?: string[];
  out: string;
  cache: string;
}

function mediumCommand(): Command {
  return withCache('medium', 'make a medium that enrols your keys on machines in their set-up mode')
    .requiredOption('--keys <path>', 'the folder of your keys')
    .option(
      '--trust <file>',
      "a further certificate for db, such as Microsoft's for option ROMs; may be repeated",
      collect,
    )
    .requiredOption('--out <path>', 'writes <path>.iso for virtual media and <path>.img for a USB stick')
    .action(async ({ keys, trust, out, cache }: MediumFlags) => {
      const medium = await makeMedium({
        keys: await openKeys(keys),
        ...(trust && { alsoTrust: trust }),
        cacheDirectory: cache,
        progress,
      });
      await writeDurably(`${out}.iso`, medium.iso);
      await writeDurably(`${out}.img`, medium.stick);
      console.log(`${out}.iso\n${out}.img`);
    });
}

interface SignFlags {
  keys: string;
  cache: string;
}

function signCommand(): Command {
  return withCache('sign', 'sign EFI programs such as iPXE with your key, each in its place')
    .argument('<file...>')
    .requiredOption('--keys <path>', 'the folder of your keys')
    .action(async (files: string[], { keys, cache }: SignFlags) => {
      const { key, certificate } = await openKeys(keys);
      for (const file of files) {
        const signer = {
          keyFile: key('db'),
          certificateFile: certificate('db'),
          cacheDirectory: cache,
          progress,
        };
        await writeDurably(path.resolve(file), await signProgram(await readFile(file), signer));
        console.log(file);
      }
    });
}
