import { Command } from 'commander';
import { version } from '#base/version.ts';
import { RailheadError, toWireError } from '#contract/errors.ts';
import { apiCommands } from './api.ts';
import { bcdCommand } from './bcd.ts';
import { centralCommand } from './central.ts';
import { explained } from './failure.ts';
import { ipxeCommand } from './ipxe.ts';
import { rackCommand } from './rack.ts';
import { ramdiskCommand } from './ramdisk.ts';

/** The operator's command line: the only file of `cli/` that reads the environment and ends the process. */
const { RAILHEAD_SERVER: server, RAILHEAD_TOKEN: token, RAILHEAD_CA: ca } = process.env;
const centre = { ...(server && { server }), ...(token && { token }), ...(ca && { ca }) };

const program = new Command('railhead')
  .description('Railhead: bare machines become running OSes')
  .version(`${version} (Node ${process.versions.node})`)
  .showHelpAfterError()
  .addHelpText(
    'after',
    '\nThe commands of the API take the centre from RAILHEAD_SERVER, RAILHEAD_TOKEN and RAILHEAD_CA (a file).',
  );
for (const command of apiCommands(centre)) program.addCommand(command);
for (const command of [centralCommand(), bcdCommand(), ramdiskCommand(), ipxeCommand(), rackCommand()])
  program.addCommand(command);

program.parseAsync(process.argv).catch((failure: unknown) => {
  const error = explained(failure);
  const { code, message, details } = toWireError(error);
  process.stderr.write(`railhead: ${code}: ${message}\n`);
  if (details !== undefined) process.stderr.write(`${JSON.stringify(details)}\n`);
  if (!(error instanceof RailheadError))
    process.stderr.write(`${String((error as Error)?.stack ?? error)}\n`);
  process.exitCode = 1;
});
