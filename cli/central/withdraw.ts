import { Command } from 'commander';
import { actOnHost, onHost } from '#central/host.ts';
import { listWithdrawals, undoWithdrawal, withdrawDigest } from '#central/images/withdrawal.ts';
import { hostFolder, printJson } from './options.ts';

interface HostFlags {
  directory: string;
}

/** `railhead central withdraw …`: a bad image is stopped everywhere. There is no API for it. */
export function withdrawCommand(): Command {
  return new Command('withdraw')
    .description('stop an image everywhere: its digest neither deploys nor boots, and sites remove it')
    .addCommand(addCommand(), { isDefault: true })
    .addCommand(undoCommand())
    .addCommand(listCommand());
}

function addCommand(): Command {
  return hostFolder(new Command('digest'))
    .description('withdraw a digest (the word may be left out); prints the machines whose disk has it')
    .argument('<digest>', 'sha256 of the artifact as stored')
    .requiredOption('--why <reason>', 'what is wrong with it: whoever deploys it is told')
    .action((digest: string, { directory, why }: HostFlags & { why: string }) =>
      actOnHost(directory, { command: 'withdraw digest', subject: { digest } }, async ({ store }) =>
        printJson(await withdrawDigest(store, digest, why)),
      ),
    );
}

function undoCommand(): Command {
  return hostFolder(new Command('undo'))
    .description('take a withdrawal back: the digest may be used again')
    .argument('<digest>')
    .action((digest: string, { directory }: HostFlags) =>
      actOnHost(directory, { command: 'withdraw undo', subject: { digest } }, ({ store }) =>
        undoWithdrawal(store, digest),
      ),
    );
}

function listCommand(): Command {
  return hostFolder(new Command('list'))
    .description(
      'every withdrawn digest, the newest first, with its images and the machines whose disk has it',
    )
    .action(({ directory }: HostFlags) =>
      onHost(directory, async ({ store }) => printJson(await listWithdrawals(store))),
    );
}
