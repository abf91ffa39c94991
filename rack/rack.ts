import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { RailheadError } from '#contract/errors.ts';
import { machinePower, machineStatus } from './control.ts';
import type { MachineStatus } from './machine/control.ts';
import { emulatorFor } from './machine/emulator.ts';
import { makeMachineFiles } from './machineFiles.ts';
import { buildNetwork } from './network.ts';
import { claimPrefix } from './owner.ts';
import { planRack } from './plan.ts';
import { checkPrerequisites } from './prerequisites.ts';
import { type MachineRecord, type RackRecord, readRackRecord, writeRackRecord } from './record.ts';
import { type RackSpec, rackSpec } from './spec.ts';
import { startSupervisor } from './supervisors.ts';
import { claimable, tearDown } from './tearDown.ts';

/** A rack that is up. */
export interface Rack extends RackRecord {
  machine(name: string): MachineRecord;
  /** Ends and removes everything; `keepFiles` leaves disks, NVRAM and logs for the next `rackUp`. */
  down(options?: { keepFiles?: boolean }): Promise<void>;
}

/** What `rackUp` is given: a document for `rackSpec`, with defaults where it is silent. */
export type RackDocument = { prefix?: string; machines?: readonly unknown[] };

/**
 * Builds a rack, all machines off, and returns when every BMC answers. A rack that is up as described is returned as it
 * is; what a killed run left in `directory` or under the prefix is removed first.
 * @throws RailheadError INVALID_CONFIG; FORBIDDEN without root; UNAVAILABLE naming what is missing; CONFLICT when the
 *   directory or the prefix belongs to another rack
 */
export async function rackUp(document: RackDocument, directory: string): Promise<Rack> {
  const spec = rackSpec(document);
  const home = path.resolve(directory);
  await checkPrerequisites(spec.machines.map((machine) => machine.firmware));
  const present = await readRackRecord(home);
  if (present !== undefined) {
    if (await isUp(present)) return existing(present, spec);
    await tearDown(present);
  }
  await claimable(spec.prefix, home);
  return buildRack(await withEmulators(planRack(spec, home)));
}

/**
 * The rack that is up in `directory`.
 * @throws RailheadError NOT_FOUND
 */
export async function openRack(directory: string): Promise<Rack> {
  const record = await readRackRecord(path.resolve(directory));
  if (record !== undefined) return asRack(record);
  throw new RailheadError('NOT_FOUND', `there is no rack in ${directory}; run: railhead rack up`, {
    directory,
  });
}

/** Resets a machine at once, as its reset button does. */
export function resetMachine(machine: MachineRecord): Promise<MachineStatus> {
  return machinePower(machine, 'ForceRestart');
}

/** Takes a machine's power away. */
export function powerOff(machine: MachineRecord): Promise<MachineStatus> {
  return machinePower(machine, 'ForceOff');
}

/** The file that holds a machine's disk, counted from 0. */
export function readDisk(machine: MachineRecord, index: number): string {
  const disk = machine.disks[index];
  if (disk === undefined) throw new RangeError(`${machine.name} has no disk ${index}`);
  return disk.file;
}

/** Fetched before anything is built: it takes a minute the first time. */
async function withEmulators(plan: RackRecord): Promise<RackRecord> {
  const machines: MachineRecord[] = [];
  for (const machine of plan.machines) {
    const emulator = await emulatorFor(machine.firmware);
    machines.push(emulator === undefined ? machine : { ...machine, emulator });
  }
  return { ...plan, machines };
}

async function buildRack(plan: RackRecord): Promise<Rack> {
  await mkdir(plan.directory, { recursive: true });
  await claimPrefix(plan.spec.prefix, plan.directory);
  await writeRackRecord(plan);
  try {
    await buildNetwork(
      plan.namespaces,
      plan.machines.map(({ tap, bmc, trunk }) => ({ tap, bmcHost: bmc.host, vlans: trunk?.vlans ?? [] })),
    );
    const rack = { ...plan, machines: await Promise.all(plan.machines.map(makeMachineFiles)) };
    await writeRackRecord(rack);
    await Promise.all(rack.machines.map((machine) => startSupervisor(rack, machine)));
    return asRack(rack);
  } catch (error) {
    await tearDown(plan);
    throw error;
  }
}

function existing(present: RackRecord, spec: RackSpec): Rack {
  if (isDeepStrictEqual(present.spec, spec)) return asRack(present);
  throw new RailheadError(
    'CONFLICT',
    `another rack is up in ${present.directory}; run railhead rack down first, or give another --directory and --prefix`,
    { directory: present.directory, prefix: present.spec.prefix },
  );
}

/** Whether every machine's supervisor answers. */
async function isUp(record: RackRecord): Promise<boolean> {
  const answers = await Promise.allSettled(record.machines.map(machineStatus));
  return answers.every(({ status }) => status === 'fulfilled');
}

function asRack(record: RackRecord): Rack {
  return {
    ...record,
    machine: (name) => machineNamed(record, name),
    down: (options) => tearDown(record, options),
  };
}

function machineNamed({ machines }: RackRecord, name: string): MachineRecord {
  const found = machines.find((machine) => machine.name === name);
  if (found !== undefined) return found;
  const names = machines.map((machine) => machine.name);
  throw new RailheadError('NOT_FOUND', `no machine is called ${name}; there are ${names.join(', ')}`, {
    name,
    names,
  });
}
