import { Command } from 'commander';
import { given, listAndPrint } from './call.ts';
import { apiCommand, type CliEnvironment, type ClientFlags } from './client.ts';

/** `railhead discovery …`: machines that were seen on the sites' boot networks. */
export function discoveryCommand(environment: CliEnvironment): Command {
  const list = apiCommand(
    'list',
    'the machines that have booted from the network, with the node that each is',
  )
    .option('--site <site-id>', 'of one site')
    .option('--unknown', 'only those that no node has an address of')
    .action(({ site, unknown, ...flags }: ClientFlags & { site?: string; unknown?: true }) =>
      listAndPrint(environment, flags, 'discovery.list', {
        input: given({ siteId: site, unknown }),
        columns: ['siteId', 'macs', 'uuid', 'nodeId', 'client', 'architecture', 'lastSeen', 'boots'],
      }),
    );
  return new Command('discovery')
    .description('machines that were seen on the boot networks')
    .addCommand(list);
}
