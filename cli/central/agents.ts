import { Command } from 'commander';
import { actOnHost, onHost } from '#central/host.ts';
import { listAgents } from '#central/join/agents.ts';
import { revokeNamed } from '#central/join/revoke.ts';
import { hostFolder, printJson } from './options.ts';

/** `railhead central agents …`: the sites and nodes that have joined. */
export function agentsCommand(): Command {
  const list = hostFolder(new Command('list'))
    .description('every agent that has joined, with its certificate, its renewals, and what is wrong with it')
    .action(({ directory }: { directory: string }) =>
      onHost(directory, async ({ store }) => printJson(await listAgents(store))),
    );
  return new Command('agents').description('the sites and nodes that have joined').addCommand(list);
}

/** `railhead central revoke …`. */
export function revokeCommand(): Command {
  return hostFolder(new Command('revoke'))
    .description('make the certificates of a site or node worthless, at once')
    .argument('<agent>', 'a site id, a node id, or the serial of a certificate of it')
    .requiredOption('--why <text>', 'for the list of agents and the events')
    .action((agent: string, { directory, why }: { directory: string; why: string }) =>
      actOnHost(directory, { command: 'revoke', subject: { agentId: agent } }, async ({ store }) =>
        printJson(await revokeNamed(store, agent, { why, by: 'host' })),
      ),
    );
}
