import type { Command } from 'commander';
import type { SeenMachine } from '#contract/seenMachine.ts';

type Shown = SeenMachine & { nodeId?: string };

/** `bcd site machines`: who is on the boot network. */
export function addMachines(site: Command): void {
  site
    .command('machines')
    .description('list the machines that were seen on the boot network, the last one first')
    .option('--json', 'as JSON')
    .option('--unknown', 'only those that no node has the address of')
    .action((_flags: unknown, command: Command) => machines(command.optsWithGlobals()));
}

async function machines(flags: { config: string; json?: true; unknown?: true }): Promise<void> {
  const { readConfig } = await import('../config.ts');
  const { localSocket } = await import('../localSocket.ts');
  const { localAgent } = await import('./cache/localAgent.ts');
  const agent = localAgent(localSocket(await readConfig(flags.config)));
  const answer = await agent.get<{ machines: Shown[] }>('/v1/discovery');
  const shown = answer.machines.filter(({ nodeId }) => !flags.unknown || nodeId === undefined);
  process.stdout.write(flags.json ? `${JSON.stringify(shown, undefined, 2)}\n` : table(shown));
}

const columns = ['LAST SEEN', 'BOOTS', 'NODE', 'CLIENT', 'MACS', 'UUID', 'PORT'] as const;

function table(machines: readonly Shown[]): string {
  const rows = [columns, ...machines.map(rowOf)];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

function rowOf({
  lastSeen,
  boots,
  nodeId,
  client,
  firmware,
  architecture,
  macs,
  uuid,
  relay,
}: Shown): string[] {
  const kind = [client, firmware, architecture].filter((fact) => fact !== undefined).join(' ');
  const port = [relay?.address, relay?.circuitId, relay?.remoteId].filter((fact) => fact !== undefined);
  return [
    lastSeen.slice(0, 19).replace('T', ' '),
    String(boots),
    nodeId ?? '-',
    kind || '-',
    macs.join(','),
    uuid ?? '-',
    port.join(' ') || '-',
  ];
}
