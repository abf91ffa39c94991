import type { Command } from 'commander';
import type { TenantFlags } from '../call.ts';
import { integer } from '../central/options.ts';
import { type CliEnvironment, tenantCommand, withApi } from '../client.ts';
import { printEvents } from '../events.ts';

interface Flags extends TenantFlags {
  last: number;
  follow?: true;
}

/** `railhead nodes events`: a machine's timeline, whether a workflow runs or not. */
export function eventsCommand(environment: CliEnvironment): Command {
  return tenantCommand(
    'events',
    'what happened to a machine, with or without a workflow: boots, power, health, entries of its BMC’s log',
  )
    .argument('<node-id>')
    .option('--last <number>', 'begin with so many of the newest; 1 to 1000', integer, 50)
    .option('--follow', 'go on until you stop it')
    .action((nodeId: string, flags: Flags) =>
      withApi(environment, flags, (call) => {
        const input = { tenantId: flags.tenant, nodeId };
        const first = { ...input, last: flags.last, limit: 200 };
        const later = { ...input, limit: 200, waitSeconds: flags.follow ? 30 : 0 };
        const isEnd = ({ items }: { items: unknown[] }) => items.length === 0 && !flags.follow;
        return printEvents(call, 'nodes.events', { first, later }, isEnd, flags);
      }),
    );
}
