import type { Command } from 'commander';
import { durationMs } from '#contract/durations.ts';
import { RailheadError } from '#contract/errors.ts';
import { given, type TenantFlags } from '../call.ts';
import { type CallApi, type CliEnvironment, tenantCommand, withApi } from '../client.ts';
import { type NodeEvent, printNodeEvent } from './printEvent.ts';

interface EventsFlags extends TenantFlags {
  since: string;
  follow?: true;
}

interface EventsPage {
  items: NodeEvent[];
  cursor: string;
}

/** `railhead nodes events NODE`: what happened to one machine, whatever workflow ran. */
export function eventsCommand(environment: CliEnvironment): Command {
  return tenantCommand(
    'events',
    'what happened to a machine, with what its serial console printed while recorded',
  )
    .argument('<node-id>')
    .option('--since <duration>', 'begin with what happened so long ago', '24h')
    .option('--follow', 'go on, until Ctrl-C')
    .action((nodeId: string, flags: EventsFlags) =>
      withApi(environment, flags, async (call) => {
        const since = new Date(Date.now() - sinceOf(flags.since)).toISOString();
        const input = { tenantId: flags.tenant, nodeId, since };
        let cursor: string | undefined;
        for (;;) {
          const page = await nodeEvents(call, { ...input, cursor, waitSeconds: flags.follow ? 30 : 0 });
          for (const event of page.items) printNodeEvent(event, flags.format);
          cursor = page.cursor;
          if (page.items.length === 0 && !flags.follow) return;
        }
      }),
    );
}

/** One page of a node's events; `waitSeconds`: how long to wait for the first. */
export function nodeEvents(
  call: CallApi,
  input: { tenantId: string; nodeId: string } & Record<string, unknown>,
): Promise<EventsPage> {
  return call<EventsPage>('nodes.events', given(input));
}

function sinceOf(text: string): number {
  try {
    return durationMs(text);
  } catch {
    throw new RailheadError('INVALID_INPUT', '--since: write a whole number and s, m or h', {
      path: '--since',
    });
  }
}
