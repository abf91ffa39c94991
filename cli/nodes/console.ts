import type { Command } from 'commander';
import { RailheadError } from '#contract/errors.ts';
import { callAndPrint, type TenantFlags } from '../call.ts';
import { type CallApi, type CliEnvironment, tenantCommand, withApi } from '../client.ts';
import { printLine, printRecord } from '../print.ts';
import { type ConsoleEvent, printConsole } from './printConsole.ts';

interface ConsoleFlags extends TenantFlags {
  for: string;
  follow: boolean;
  end?: true;
}

interface Wanted {
  recordingId: string;
  until: string;
  cursor: string;
}

interface EventsPage {
  items: ConsoleEvent[];
  cursor: string;
}

/** A site that is cut off cannot tell that a recording has ended: nobody waits longer for it. Milliseconds. */
const graceMs = 60_000;
const types = ['console'];

/** `railhead nodes console NODE --for 10m`: has the site record a serial console, and prints it as it comes. */
export function consoleCommand(environment: CliEnvironment): Command {
  return tenantCommand(
    'console',
    "record a machine's serial console into its timeline, whatever workflow runs, and print it as it comes; Ctrl-C ends only the printing",
  )
    .argument('<node-id>')
    .option('--for <duration>', 'how long it is recorded from now on, at most 24h', '10m')
    .option('--no-follow', 'have it recorded, and print nothing')
    .option('--end', 'end the recording')
    .action((nodeId: string, flags: ConsoleFlags) => {
      const node = { tenantId: flags.tenant, nodeId };
      if (flags.end) return callAndPrint(environment, flags, 'nodes.endConsole', node);
      return withApi(environment, flags, async (call) => {
        const wanted = await call<Wanted>('nodes.recordConsole', { ...node, for: flags.for });
        if (!flags.follow) return printRecord(wanted, flags.format);
        process.stderr.write(`[${nodeId} is recorded until ${wanted.until}]\n`);
        await follow(call, node, wanted, flags);
      });
    });
}

/** Prints what is recorded until it has ended. @throws RailheadError UNAVAILABLE when the site does not tell that it has */
async function follow(
  call: CallApi,
  node: { tenantId: string; nodeId: string },
  { recordingId, until, cursor: from }: Wanted,
  { format }: TenantFlags,
): Promise<void> {
  let cursor = from;
  let end = until;
  while (Date.now() < Date.parse(end) + graceMs) {
    const page = await call<EventsPage>('nodes.events', { ...node, types, cursor, waitSeconds: 20 });
    for (const event of page.items.filter(({ data }) => data?.recordingId === recordingId)) {
      if (format === 'json') printLine(JSON.stringify(event));
      else printConsole(event);
      if (event.type === 'console.ended') return;
      // Somebody else has moved its end.
      end = event.data?.until ?? end;
    }
    cursor = page.cursor;
  }
  throw new RailheadError(
    'UNAVAILABLE',
    'the site does not tell that the recording has ended: is it connected?',
    {
      reason: 'no-news',
    },
  );
}
