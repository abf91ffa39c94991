import { planRack } from '#rack/plan.ts';
import type { MachineRecord } from '#rack/record.ts';
import { rackSpec } from '#rack/spec.ts';

/** The record of one machine as a rack of it alone would have it. */
export function machineRecord(machine: Record<string, unknown> = {}): MachineRecord {
  const spec = rackSpec({ machines: [{ name: 'a', firmware: 'uefi', disks: [{ size: '8G' }], ...machine }] });
  return planRack(spec, '/srv/rack').machines[0]!;
}
