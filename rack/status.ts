import { hasCode } from '#contract/errors.ts';
import { machineStatus } from './control.ts';
import type { PowerState } from './machine/power.ts';
import type { MachineRecord, RackRecord } from './record.ts';

export interface RackStatus extends RackRecord {
  machines: (MachineRecord & { powerState: PowerState | 'unsupervised' })[];
}

/** The rack's record with the power state of each machine; `unsupervised` where its supervisor has died. */
export async function rackStatus(rack: RackRecord): Promise<RackStatus> {
  const { directory, spec, namespaces } = rack;
  const machines = rack.machines.map(async (machine) => ({
    ...machine,
    powerState: await powerStateOf(machine),
  }));
  return { directory, spec, namespaces, machines: await Promise.all(machines) };
}

async function powerStateOf(machine: MachineRecord): Promise<PowerState | 'unsupervised'> {
  try {
    return (await machineStatus(machine)).powerState;
  } catch (error) {
    if (hasCode(error, 'UNAVAILABLE')) return 'unsupervised';
    throw error;
  }
}

/** The status for people: one line a machine. */
export function statusTable({ machines, namespaces }: RackStatus): string {
  const header = ['NAME', 'FIRMWARE', 'POWER', 'MAC', 'UUID', 'BMC', 'CONSOLE LOG'];
  const rows = machines.map((machine) => [
    machine.name,
    machine.firmware,
    machine.powerState,
    machine.mac,
    machine.uuid,
    machine.bmc.address,
    machine.consoleLog,
  ]);
  const table = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, `namespaces: ${Object.values(namespaces).join(', ')}`].join('\n');
}
