import { type Command, InvalidArgumentError } from 'commander';
import { durationMs } from '#contract/durations.ts';
import { given, type TenantFlags } from '../call.ts';
import { integer } from '../central/options.ts';
import { type CliEnvironment, tenantCommand, withApi } from '../client.ts';
import { printEvents } from '../events.ts';

interface Flags extends TenantFlags {
  last?: number;
  since?: number;
  type?: string[];
  follow?: true;
}

/** `railhead nodes events`: a machine's timeline, whether a workflow runs or not. */
export function eventsCommand(environment: CliEnvironment): Command {
  return tenantCommand(
    'events',
    'what happened to a machine, with or without a workflow: boots, power, health, entries of its BMC’s log',
  )
    .argument('<node-id>')
    .option(
      '--last <number>',
      'begin with so many of the newest; 1 to 1000 (default: 50, without --since)',
      integer,
    )
    .option('--since <duration>', 'begin with what happened so long ago, e.g. 2h', duration)
    .option('--type <types>', 'only these, e.g. bmc.log, or all of a kind: bmc,console', (text) =>
      text.split(','),
    )
    .option('--follow', 'go on until you stop it')
    .action((nodeId: string, flags: Flags) =>
      withApi(environment, flags, (call) => {
        const input = given({ tenantId: flags.tenant, nodeId, types: flags.type, since: sinceOf(flags) });
        const last = flags.last ?? (flags.since === undefined ? 50 : undefined);
        const first = given({ ...input, last, limit: 200 });
        const later = { ...input, limit: 200, waitSeconds: flags.follow ? 30 : 0 };
        const isEnd = ({ items }: { items: unknown[] }) => items.length === 0 && !flags.follow;
        return printEvents(call, 'nodes.events', { first, later }, isEnd, flags);
      }),
    );
}

function sinceOf({ since }: Flags): string | undefined {
  return since === undefined ? undefined : new Date(Date.now() - since).toISOString();
}

function duration(text: string): number {
  try {
    return durationMs(text);
  } catch {
    throw new InvalidArgumentError('write a whole number and s, m or h.');
  }
}
