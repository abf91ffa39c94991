import { Command } from 'commander';
import { parseGrant } from '#central/api/grants.ts';
import { createToken, listTokens, revokeToken } from '#central/api/tokens.ts';
import { actOnHost, onHost } from '#central/host.ts';
import { noteHostChange } from '#central/hostChanges.ts';
import { collect, hostFolder, printJson, validOption } from './options.ts';

/** `railhead central token …`: the operators' bearer tokens. */
export function tokenCommand(): Command {
  return new Command('token')
    .description("operators' bearer tokens for the API")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

interface CreateFlags {
  directory: string;
  name: string;
  tenant?: string;
  grant: string[];
  valid: number;
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
    .option('--tenant <tenant>', 'the tenant that it belongs to, whose administrators may list and revoke it')
    .addOption(validOption('720h'))
    .action(mint);
}

function mint({ directory, name, tenant: tenantId, grant, valid: validMs }: CreateFlags): Promise<void> {
  const tenant = tenantId === undefined ? {} : { tenantId };
  const act = { command: 'token create', ...tenant, subject: { name } };
  return actOnHost(directory, act, async ({ store }) => {
    const minted = await createToken(store, { name, grants: grant.map(parseGrant), validMs, tenantId });
    printJson(minted);
    return { tokenId: minted.tokenId };
  });
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
    .description('make a token worthless at once, and every one that was minted by it')
    .argument('<token-id>')
    .action((tokenId: string, { directory }: { directory: string }) =>
      actOnHost(directory, { command: 'token revoke', subject: { tokenId } }, async ({ store }) => {
        const revoked = await revokeToken(store, tokenId);
        await noteHostChange(store);
        printJson({ revoked });
      }),
    );
}
