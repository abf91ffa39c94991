import { Command } from 'commander';
import { parseGrant } from '#central/api/grants.ts';
import { callAndPrint, given, listAndPrint } from './call.ts';
import { collect } from './central/options.ts';
import { apiCommand, type CliEnvironment, type ClientFlags } from './client.ts';

type TokenFlags = ClientFlags & { tenant?: string };
type CreateFlags = TokenFlags & { name: string; grant: string[]; valid?: string };

/** `railhead tokens …`: operators' tokens; none can do more than the one that mints it. */
export function tokensCommand(environment: CliEnvironment): Command {
  const create = tokenCommand('create', 'mint a token; it is shown once')
    .requiredOption('--name <name>', 'whose it is, for people')
    .requiredOption(
      '--grant <grant>',
      'what it may do, e.g. compute:images:read@compute-tenant:root; may be repeated',
      collect,
    )
    .option('--valid <duration>', 'a whole number and ms, s, m or h; default 720h, or as long as your own')
    .action(({ tenant: tenantId, name, grant, valid: validFor, ...flags }: CreateFlags) =>
      callAndPrint(
        environment,
        flags,
        'tokens.create',
        given({ tenantId, name, grants: grant.map(parseGrant), validFor }),
      ),
    );
  const list = tokenCommand('list', 'every token, without its secret').action(
    ({ tenant: tenantId, ...flags }: TokenFlags) =>
      listAndPrint(environment, flags, 'tokens.list', {
        input: given({ tenantId }),
        columns: ['tokenId', 'name', 'tenantId', 'expiresAt', 'revokedAt', 'grants'],
      }),
  );
  const revoke = tokenCommand('revoke', 'make a token worthless at once, and every one that was minted by it')
    .argument('<token-id>')
    .action((tokenId: string, { tenant: tenantId, ...flags }: TokenFlags) =>
      callAndPrint(environment, flags, 'tokens.revoke', given({ tenantId, tokenId })),
    );
  return [create, list, revoke].reduce(
    (command, sub) => command.addCommand(sub),
    new Command('tokens').description("operators' bearer tokens"),
  );
}

function tokenCommand(name: string, description: string): Command {
  return apiCommand(name, description).option(
    '--tenant <tenant>',
    'of this tenant; else of the installation',
  );
}
