import { Command } from 'commander';
import { version } from '#base/version.ts';
import { apiCommands } from './api.ts';
import { bcdCommand } from './bcd.ts';
import { signersCommand } from './central/signers.ts';
import { centralCommand } from './central.ts';
import type { CliEnvironment } from './client.ts';
import { completionCommand } from './completion.ts';
import { ipxeCommand } from './ipxe.ts';
import { rackCommand } from './rack.ts';
import { ramdiskCommand } from './ramdisk.ts';
import { secureBootCommand } from './secureBoot.ts';

/** The whole command line: what calls the API, what is done on the centre's host, and what builds. */
export function railheadProgram(environment: CliEnvironment): Command {
  const program = new Command('railhead')
    .description('Railhead: bare machines become running OSes')
    .version(`${version} (Node ${process.versions.node})`)
    .showHelpAfterError()
    .addHelpText(
      'after',
      `
The commands of the API take the centre from RAILHEAD_SERVER, RAILHEAD_TOKEN and RAILHEAD_CA (a file).
Exit status: 0 done, 1 a fault of this program, 2 a mistake in the command or its input, 3 not allowed, 4 not found,
5 in the way of something, 6 not possible here or the device failed, 7 not now: try again.`,
    );
  const onTheHost = [centralCommand(), signersCommand()];
  const builders = [bcdCommand(), ramdiskCommand(), ipxeCommand(), secureBootCommand(), rackCommand()];
  for (const command of [...apiCommands(environment), ...onTheHost, ...builders]) program.addCommand(command);
  return program.addCommand(completionCommand(program));
}
