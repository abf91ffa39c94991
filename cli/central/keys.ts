import { Argument, Command } from 'commander';
import { actOnHost, onHost } from '#central/host.ts';
import { listKeys } from '#central/join/keyList.ts';
import { type KeyUse, keyUses } from '#central/join/keyRing.ts';
import { retireKey } from '#central/join/retire.ts';
import { rotateKey } from '#central/join/rotation.ts';
import { hostFolder, printJson } from './options.ts';

interface HostFlags {
  directory: string;
}

/** `railhead central keys …`: the drills of docs/operations.md. */
export function keysCommand(): Command {
  return new Command('keys')
    .description("the centre's keys: what there is, and putting a new one in the place of an old one")
    .addCommand(listCommand())
    .addCommand(rotateCommand())
    .addCommand(retireCommand());
}

function use(): Argument {
  return new Argument('<use>', 'which key').choices(keyUses);
}

function listCommand(): Command {
  return hostFolder(new Command('list'))
    .description('every key with its pin, and who still needs one that was replaced')
    .action(({ directory }: HostFlags) =>
      onHost(directory, async ({ store }) => printJson(await listKeys(store, directory))),
    );
}

function rotateCommand(): Command {
  return hostFolder(new Command('rotate'))
    .description('put a new key in its place; the one before is accepted until it is retired')
    .addArgument(use())
    .action((name: KeyUse, { directory }: HostFlags) =>
      actOnHost(directory, { command: 'keys rotate', subject: { use: name } }, async ({ store }) => {
        await rotateKey(directory, name);
        printJson(await listKeys(store, directory));
      }),
    );
}

function retireCommand(): Command {
  return hostFolder(new Command('retire'))
    .description('accept the replaced key no more, and remove it; refused while somebody needs it')
    .addArgument(use())
    .option('--force', 'also while somebody needs it: they join again with a new token')
    .action((name: KeyUse, { directory, force }: HostFlags & { force?: true }) =>
      actOnHost(directory, { command: 'keys retire', subject: { use: name } }, async ({ store }) =>
        printJson(await retireKey(store, directory, name, force === true)),
      ),
    );
}
