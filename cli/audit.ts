import { Command } from 'commander';
import { given, listAndPrint } from './call.ts';
import { apiCommand, type CliEnvironment, type ClientFlags } from './client.ts';

interface ListFlags extends ClientFlags {
  tenant?: string;
  actor?: string;
  since?: string;
  until?: string;
}

/** `railhead audit …`: who changed what. */
export function auditCommand(environment: CliEnvironment): Command {
  const list = apiCommand('list', 'the record of every change, oldest first')
    .option('--tenant <tenant>', 'of this tenant alone')
    .option('--actor <actor>', "by this token's id, or host:USER")
    .option('--since <time>', 'from this time on, e.g. 2026-11-01T08:00:00Z')
    .option('--until <time>', 'before this time')
    .action(({ tenant, actor, since, until, ...flags }: ListFlags) =>
      listAndPrint(environment, flags, 'audit.list', {
        input: given({ tenantId: tenant, actor, since, until }),
        columns: ['at', 'actor', 'method', 'scope', 'outcome', 'subject'],
      }),
    );
  return new Command('audit').description('the record of every change').addCommand(list);
}
