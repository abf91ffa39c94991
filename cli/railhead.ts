import { Command } from 'commander';
import { version } from '#base/version.ts';
import { RailheadError, toWireError } from '#contract/errors.ts';
import { centralCommand } from './central.ts';
import { ipxeCommand } from './ipxe.ts';
import { rackCommand } from './rack.ts';
import { ramdiskCommand } from './ramdisk.ts';

/** The operator's command line: the only file of `cli/` that reads the environment and ends the process. */
const program = new Command('railhead')
  .description('Railhead: bare machines become running OSes')
  .version(`${version} (Node ${process.versions.node})`)
  .showHelpAfterError()
  .addCommand(centralCommand())
  .addCommand(ramdiskCommand())
  .addCommand(ipxeCommand())
  .addCommand(rackCommand());

program.parseAsync(process.argv).catch((error: unknown) => {
  const { code, message, details } = toWireError(error);
  process.stderr.write(`railhead: ${code}: ${message}\n`);
  if (details !== undefined) process.stderr.write(`${JSON.stringify(details)}\n`);
  if (!(error instanceof RailheadError))
    process.stderr.write(`${String((error as Error)?.stack ?? error)}\n`);
  process.exitCode = 1;
});
