import { Command } from 'commander';
import { version } from '#base/version.ts';
import type { JoinOptions } from './join/join.ts';
import { addSiteCommands } from './site/commands/index.ts';

/** What each command of the daemon does. */
export interface Modes {
  site(options: { config: string; check?: true }): Promise<void>;
  ramdisk(): Promise<void>;
  node(options: { config: string }): Promise<void>;
  join(options: JoinOptions): Promise<void>;
}

/** The daemon's whole command line. */
export function bcdProgram(modes: Modes): Command {
  const program = new Command('bcd')
    .description('Railhead daemon: site agent, ramdisk agent, node agent')
    .version(`${version} (Node ${process.versions.node})`)
    .showHelpAfterError();
  const siteCommand = program
    .command('site')
    .description('run the site agent')
    .option('--config <file>', 'configuration file', '/etc/bcd/config.toml')
    .option('--check', 'validate the configuration and exit')
    .action(modes.site);
  addSiteCommands(siteCommand);
  program.command('ramdisk').description('run the agent in the ramdisk').action(modes.ramdisk);
  program
    .command('node')
    .description('run the agent of an installed OS')
    .option('--config <file>', 'configuration file; it need not be there', '/etc/bcd/config.toml')
    .action(modes.node);
  return program.addCommand(joinCommand().action(modes.join));
}

function joinCommand(): Command {
  return new Command('join')
    .description('make this site or node known to the centre, once')
    .requiredOption('--server <url>', 'base URL of the centre')
    .requiredOption('--token-file <file>', 'file with the join token; removed once joined')
    .requiredOption('--node-id <id>', 'the identity to take; any other is refused')
    .requiredOption('--serving-ca-pin <pin>', 'sha256/… of the CA that signs the centre and its agents')
    .requiredOption('--join-signing-pin <pin>', 'sha256/… of the key that signs join answers')
    .requiredOption('--join-encryption-pin <pin>', 'sha256/… of the key that the token is sealed to')
    .option('--state-directory <directory>', 'where the identity is kept', '/var/lib/bcd');
}
