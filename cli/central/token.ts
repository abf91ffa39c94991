import { Command } from 'commander';
import { parseGrant } from '#central/api/grants.ts';
import { createToken, listTokens, revokeToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { collect, hostFolder, printJson, validOption } from './options.ts';

/** `railhead central token …`: the operators' bearer tokens. */
export function tokenCommand(): Command {
  return new Command('token')
    .description("operators' bearer tokens for the API")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function createCommand(): Command {
  return hostFolder(new Command('create'))
    .description('mint a token; it is shown once and stored hashed')
    .requiredOption('--name <name>', 'whose it is, for people')
    .requiredOption(
      '--grant <grant>',
      'what it may do, e.g. compute:images:publish@compute-tenant:root or compute:*@compute-fleet:*; may be repeated',
      collect,
    )
    .addOption(validOption('720h'))
    .action((flags: { directory: string; name: string; grant: string[]; valid: number }) =>
      onHost(flags.directory, async ({ store }) => {
        const grants = flags.grant.map(parseGrant);
        printJson(await createToken(store, { name: flags.name, grants, validMs: flags.valid }));
      }),
    );
}

function listCommand(): Command {
  return hostFolder(new Command('list'))
    .description('every token, without its secret')
    .action(({ directory }: { directory: string }) =>
      onHost(directory, async ({ store }) => {
        const tokens = await listTokens(store);
        printJson(
          tokens.map(({ hash: _, grants, ...row }) => ({ ...row, grants: JSON.parse(grants) as unknown })),
        );
      }),
    );
}

function revokeCommand(): Command {
  return hostFolder(new Command('revoke'))
    .description('make a token worthless at once')
    .argument('<token-id>')
    .action((tokenId: string, { directory }: { directory: string }) =>
      onHost(directory, ({ store }) => revokeToken(store, tokenId)),
    );
}
