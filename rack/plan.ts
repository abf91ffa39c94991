import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { RailheadError } from '#contract/errors.ts';
import { diskSerial, machineIdentity } from './identity.ts';
import { rtcOffset } from './machine/batteryClock.ts';
import { sizeInBytes } from './machine/disks.ts';
import { namespaceNames } from './netns.ts';
import { bmcHost } from './network.ts';
import type { MachineRecord, RackRecord, TrunkRecord } from './record.ts';
import type { MachineSpec, RackSpec } from './spec.ts';

/**
 * Everything that a rack will consist of, before any of it exists; only the BMCs' certificates are still to be made.
 * @throws RailheadError INVALID_CONFIG when the directory's path is too long for Unix sockets in it
 */
export function planRack(spec: RackSpec, directory: string): RackRecord {
  const machines = spec.machines.map((machine, index) => planMachine(spec.prefix, machine, index, directory));
  for (const { controlSocket } of machines) checkSocketPath(controlSocket);
  return { directory, spec, namespaces: namespaceNames(spec.prefix), machines };
}

function planMachine(prefix: string, machine: MachineSpec, index: number, rack: string): MachineRecord {
  const identity = machineIdentity(prefix, machine.name);
  const directory = path.join(rack, machine.name);
  const host = bmcHost(index);
  const { name, firmware, memoryMiB, faults } = machine;
  return {
    ...{ name, firmware, memoryMiB, faults, ...identity, directory },
    disks: machine.disks.map(({ size, bus }, disk) => ({
      file: path.join(directory, `disk${disk + 1}.raw`),
      serial: diskSerial(identity.serial, disk),
      sizeBytes: sizeInBytes(size),
      bus,
    })),
    bmc: {
      address: `https://${host}`,
      host,
      username: 'admin',
      password: randomBytes(9).toString('base64url'),
      certificateSha256: '',
    },
    consoleLog: path.join(directory, 'console.log'),
    consoleSocket: path.join(directory, 'console.sock'),
    controlSocket: path.join(directory, 'control.sock'),
    nvram: path.join(directory, 'nvram.fd'),
    tap: `tap${index}`,
    ...(machine.nicRom === undefined ? {} : { nicRom: path.resolve(machine.nicRom) }),
    ...(machine.vlans === undefined ? {} : { trunk: planTrunk(machine.vlans, index, directory) }),
    ...(machine.bootsOver === undefined ? {} : { bootsOver: machine.bootsOver }),
    ...(machine.rtc === undefined ? {} : { rtcOffsetSeconds: rtcOffset(machine.rtc, Date.now()) }),
  };
}

/** An interface's name has at most 15 characters. */
function planTrunk(vlans: readonly number[], index: number, directory: string): TrunkRecord {
  return {
    socket: path.join(directory, 'trunk.sock'),
    vlans: vlans.map((id) => ({ id, tap: `tap${index}v${id}` })),
    capture: path.join(directory, 'wire.pcap'),
  };
}

/** Linux keeps 108 bytes for a Unix socket's path, the closing zero included (unix(7)). */
function checkSocketPath(file: string): void {
  const length = Buffer.byteLength(file);
  if (length <= 107) return;
  throw new RailheadError(
    'INVALID_CONFIG',
    `the rack's directory has too long a path for the sockets in it (${length} bytes, at most 107): use a shorter --directory`,
    { path: file, length },
  );
}
