import { Command } from 'commander';
import { version } from '#base/version.ts';
import { apiCommands } from './api.ts';
import { bcdCommand } from './bcd.ts';
import { signersCommand } from './central/signers.ts';
import { centralCommand } from './central.ts';
import { completionCommand } from './completion.ts';
import { farewell, throwInsteadOfExit } from './exit.ts';
import { ipxeCommand } from './ipxe.ts';
import { rackCommand } from './rack.ts';
import { ramdiskCommand } from './ramdisk.ts';

/** The operator's command line: the only file of `cli/` that reads the environment and ends the process. */
const {
  RAILHEAD_SERVER: server,
  RAILHEAD_TOKEN: token,
  RAILHEAD_CA: ca,
  RAILHEAD_DEBUG: debug,
} = process.env;
const centre = { ...(server && { server }), ...(token && { token }), ...(ca && { ca }) };

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
for (const command of apiCommands(centre)) program.addCommand(command);
for (const command of [
  centralCommand(),
  signersCommand(),
  bcdCommand(),
  ramdiskCommand(),
  ipxeCommand(),
  rackCommand(),
])
  program.addCommand(command);
program.addCommand(completionCommand(program));
throwInsteadOfExit(program);

program.parseAsync(process.argv).catch((failure: unknown) => {
  const { lines, status } = farewell(failure, debug !== undefined && debug !== '');
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.exitCode = status;
});
