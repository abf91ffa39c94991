import { Command } from 'commander';
import { actOnHost, makeCentre, onHost } from '#central/host.ts';
import { centralPins, ramdiskTrust } from '#central/join/pins.ts';
import { agentsCommand, revokeCommand } from './central/agents.ts';
import { auditCommand } from './central/audit.ts';
import { backupCommand } from './central/backup.ts';
import { joinTokenCommand } from './central/joinToken.ts';
import { keysCommand } from './central/keys.ts';
import { databaseOption, hostFolder, httpUrl, printJson } from './central/options.ts';
import { runCommand } from './central/run.ts';
import { signersCommand } from './central/signers.ts';
import { sitesCommand } from './central/sites.ts';
import { tokenCommand } from './central/token.ts';
import { withdrawCommand } from './central/withdraw.ts';

/** `railhead central …`: runs the centre, and what is done on its host alone. */
export function centralCommand(): Command {
  return new Command('central')
    .description('the centre: run it, and manage on its host what no API may')
    .addCommand(runCommand(), { isDefault: true })
    .addCommand(initCommand())
    .addCommand(pinsCommand())
    .addCommand(trustCommand())
    .addCommand(tokenCommand())
    .addCommand(joinTokenCommand())
    .addCommand(sitesCommand())
    .addCommand(signersCommand())
    .addCommand(withdrawCommand())
    .addCommand(agentsCommand())
    .addCommand(revokeCommand())
    .addCommand(auditCommand())
    .addCommand(backupCommand())
    .addCommand(keysCommand());
}

function initCommand(): Command {
  return hostFolder(new Command('init'))
    .description('make keys and database where they are missing, before the first run; prints what was made')
    .addOption(databaseOption())
    .action(async ({ directory, database }: { directory: string; database?: string }) => {
      const made = await makeCentre(directory, database);
      await actOnHost(directory, { command: 'init', subject: {} }, async ({ keys }) => {
        printJson({ directory, made, pins: centralPins(keys) });
      });
    });
}

function pinsCommand(): Command {
  return hostFolder(new Command('pins'))
    .description("the three pins that 'bcd join' must be given")
    .action(({ directory }: { directory: string }) =>
      onHost(directory, async ({ keys }) => printJson(centralPins(keys))),
    );
}

function trustCommand(): Command {
  return hostFolder(new Command('trust'))
    .description('trust.json for the ramdisk image: the CA and the key that signs operations; no secret')
    .option('--central-url <url>', 'base URL of the centre, for the image to know', httpUrl)
    .action(({ directory, centralUrl }: { directory: string; centralUrl?: string }) =>
      onHost(directory, async ({ keys }) => printJson(ramdiskTrust(keys, centralUrl))),
    );
}
