import { Command, Option } from 'commander';
import { actOnHost } from '#central/host.ts';
import { requireJoinable } from '#central/join/joinable.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { hostFolder, printJson, validOption } from './options.ts';

interface CreateFlags {
  directory: string;
  role: 'site' | 'node';
  nodeId: string;
  valid: number;
}

/** `railhead central join-token …`: single-use tokens by which agents join. */
export function joinTokenCommand(): Command {
  const create = hostFolder(new Command('create'))
    .description('mint a single-use join token; it is shown once and stored hashed')
    .addOption(new Option('--role <role>', 'who joins').choices(['site', 'node']).makeOptionMandatory())
    .requiredOption('--node-id <id>', 'the identity that the token is for: a site id or a node id')
    .addOption(validOption('24h'))
    .action(createToken);
  return new Command('join-token').description('single-use tokens by which agents join').addCommand(create);
}

function createToken({ directory, role, nodeId, valid }: CreateFlags): Promise<void> {
  return actOnHost(directory, { command: 'join-token create', subject: { nodeId } }, async ({ store }) => {
    await requireJoinable(store, role, nodeId);
    const minted = await createJoinToken(store, { role, nodeId, validMs: valid });
    printJson(minted);
    return { joinTokenId: minted.joinTokenId };
  });
}
