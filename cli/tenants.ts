import { Command } from 'commander';
import { callAndPrint, given, listAndPrint } from './call.ts';
import { apiCommand, type CliEnvironment, type ClientFlags } from './client.ts';

/** `railhead tenants …`: who owns images, profiles, pools and machines. */
export function tenantsCommand(environment: CliEnvironment): Command {
  const one = (name: string, description: string) =>
    apiCommand(name, description).argument('<tenant>', 'its id');
  const create = one('create', 'a new tenant')
    .option('--name <name>', 'for people; default: its id')
    .action((tenantId: string, { name, ...flags }: ClientFlags & { name?: string }) =>
      callAndPrint(environment, flags, 'tenants.create', given({ tenantId, name })),
    );
  const get = one('get', 'one tenant').action((tenantId: string, flags: ClientFlags) =>
    callAndPrint(environment, flags, 'tenants.get', { tenantId }),
  );
  const list = apiCommand('list', 'every tenant that this token may see').action((flags: ClientFlags) =>
    listAndPrint(environment, flags, 'tenants.list', { columns: ['tenantId', 'name', 'createdAt'] }),
  );
  const update = one('update', 'give a tenant another name')
    .requiredOption('--name <name>', 'for people')
    .action((tenantId: string, { name, ...flags }: ClientFlags & { name: string }) =>
      callAndPrint(environment, flags, 'tenants.update', { tenantId, name }),
    );
  const remove = one('delete', 'remove a tenant that owns nothing, and revoke its tokens').action(
    (tenantId: string, flags: ClientFlags) =>
      callAndPrint(environment, flags, 'tenants.delete', { tenantId }),
  );
  return [create, get, list, update, remove].reduce(
    (command, sub) => command.addCommand(sub),
    new Command('tenants').description('who owns images, profiles, pools and machines'),
  );
}
