import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import type { Fault } from './bmc/faultSwitches.ts';
import type { RackDisk } from './machine/disks.ts';
import type { Emulator } from './machine/emulator.ts';
import type { FirmwareName } from './machine/firmware.ts';
import type { RackSpec } from './spec.ts';

/** One machine of a rack, and where its parts are. */
export interface MachineRecord {
  name: string;
  firmware: FirmwareName;
  memoryMiB: number;
  mac: string;
  uuid: string;
  serial: string;
  disks: RackDisk[];
  bmc: BmcRecord;
  /** Everything the machine said on its serial console, a time stamp before each line. */
  consoleLog: string;
  consoleSocket: string;
  controlSocket: string;
  directory: string;
  nvram: string;
  tap: string;
  /** What runs it in place of the host's QEMU. */
  emulator?: Emulator;
  nicRom?: string;
  /** Where its cable ends when that is no plain port of the provisioning network. */
  trunk?: TrunkRecord;
  bootsOver?: 'http' | 'https' | 'ipv6';
  /** How far its battery clock is off when the rack is built. */
  rtcOffsetSeconds?: number;
  faults: Fault[];
}

/** A switch port that carries networks with tags beside the provisioning network, which has none. */
export interface TrunkRecord {
  socket: string;
  vlans: { id: number; tap: string }[];
  /** What passed on the machine's wire since its supervisor was started (pcap). */
  capture: string;
}

export interface BmcRecord {
  /** The base URL, reachable from the rack's namespaces. */
  address: string;
  host: string;
  username: string;
  password: string;
  /** Of the DER certificate, in lower-case hex. */
  certificateSha256: string;
}

/** The names of a rack's network namespaces. */
export interface RackNamespaces {
  site: string;
  mgmt: string;
  centre: string;
}

/** What a rack's directory says about it: written before anything is built, removed after all is gone. */
export interface RackRecord {
  directory: string;
  spec: RackSpec;
  namespaces: RackNamespaces;
  machines: MachineRecord[];
}

export async function writeRackRecord(record: RackRecord): Promise<void> {
  await writeDurably(recordFile(record.directory), JSON.stringify(record, null, 2), 0o600);
}

/** The record of the rack in `directory`; undefined when there is none. */
export async function readRackRecord(directory: string): Promise<RackRecord | undefined> {
  try {
    return JSON.parse(await readFile(recordFile(directory), 'utf8')) as RackRecord;
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

export function recordFile(directory: string): string {
  return path.join(directory, 'rack.json');
}
