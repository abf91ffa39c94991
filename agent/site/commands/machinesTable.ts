import type { BmcHealth } from '#contract/bmcHealth.ts';
import { isSameUuid } from '#contract/productUuid.ts';
import type { SeenMachine } from '#contract/seenMachine.ts';

export type ShownMachine = SeenMachine & { nodeId?: string; health?: BmcHealth };

const columns = ['LAST SEEN', 'BOOTS', 'NODE', 'HEALTH', 'CLIENT', 'MACS', 'UUID', 'PORT'] as const;

/** `shown` of all machines that were seen; where others name the same product UUID, these are told. */
export function machinesTable(shown: readonly ShownMachine[], all: readonly ShownMachine[]): string {
  const rows = [columns, ...shown.map((machine) => rowOf(machine, sameUuidAs(machine, all)))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

function rowOf(machine: ShownMachine, others: readonly string[]): string[] {
  const { lastSeen, boots, nodeId, health, client, firmware, architecture, macs, uuid, relay } = machine;
  const kind = [client, firmware, architecture].filter((fact) => fact !== undefined).join(' ');
  const port = [relay?.address, relay?.circuitId, relay?.remoteId].filter((fact) => fact !== undefined);
  const also = others.length === 0 ? '' : ` (same as ${others.join(', ')})`;
  return [
    lastSeen.slice(0, 19).replace('T', ' '),
    String(boots),
    nodeId ?? '-',
    [health?.health, health?.power].filter((fact) => fact !== undefined).join(' ') || '-',
    kind || '-',
    macs.join(','),
    uuid === undefined ? '-' : `${uuid}${also}`,
    port.join(' ') || '-',
  ];
}

const mostNamed = 3;

/** Other machines of this UUID: one board with several ports, boards whose maker set none, or somebody who feigns it. */
function sameUuidAs({ machineId, uuid }: ShownMachine, all: readonly ShownMachine[]): string[] {
  if (uuid === undefined) return [];
  const others = all.filter(
    (other) => other.machineId !== machineId && other.uuid !== undefined && isSameUuid(other.uuid, uuid),
  );
  const named = others.slice(0, mostNamed).map((other) => other.nodeId ?? other.machineId);
  return others.length > mostNamed ? [...named, `${others.length - mostNamed} more`] : named;
}
