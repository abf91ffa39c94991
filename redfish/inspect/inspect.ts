import type { OobInventory } from '#contract/oobInventory.ts';
import { asObject, type JsonObject, linkOf } from '../json.ts';
import { type Machine, powerOf } from '../operations/powerState.ts';
import { isGpuBaseboard } from '../system.ts';
import { bmcOf, cpuOf, diskOf, firmwareOf, gpuOf, memoryOf, nicOf, systemOf } from './parts.ts';
import { type Reader, readerOf } from './reader.ts';
import { readSensors } from './sensors.ts';

/** A BMC lists its firmware part by part, and is asked for each: more than this would take minutes. */
const firmwareLimit = 64;

/**
 * Reads what the BMC knows of its machine. A resource that is linked and refused, of which there are many in the field (500 without a
 * RAID card, 501, 404), costs its own part only and is named in `notes`.
 * @throws RailheadError DRIVER_ERROR when the system itself cannot be read or the BMC is lost on the way
 */
export async function inspect(machine: Machine): Promise<OobInventory> {
  const { client, path } = machine;
  const system = (await client.get(path)).body;
  const root = await client.root();
  const reader = readerOf(client);
  const [chassis, manager] = [await reader.first(system, 'Chassis'), await reader.first(system, 'ManagedBy')];
  const processors = await reader.members(system.Processors);
  const updates = await reader.one(root.UpdateService);
  return {
    system: systemOf(system, await reader.one(system.SecureBoot)),
    bmc: bmcOf(manager),
    cpus: processors.flatMap(cpuOf),
    gpus: [...processors, ...(await onBaseboard(machine, reader, system, root))].flatMap(gpuOf),
    memory: (await reader.members(system.Memory)).flatMap(memoryOf),
    nics: await nics(reader, system, chassis),
    disks: (await drives(reader, system)).flatMap(diskOf),
    firmware: (await reader.members(updates.FirmwareInventory, firmwareLimit)).flatMap(firmwareOf),
    sensors: await readSensors(reader, chassis),
    notes: reader.notes,
  };
}

/** The processors of a GPU baseboard that is a system of its own. While the machine is off it answers nothing but 503. */
async function onBaseboard(
  { vendor }: Machine,
  reader: Reader,
  system: JsonObject,
  root: JsonObject,
): Promise<JsonObject[]> {
  if (!vendor.gpusOnBaseboard || powerOf(system.PowerState) !== 'on') return [];
  const { Members } = await reader.one(root.Systems);
  const boards = (Array.isArray(Members) ? Members : []).filter((member) =>
    isGpuBaseboard(linkOf(member) ?? ''),
  );
  const found: JsonObject[] = [];
  for (const board of boards) found.push(...(await reader.members((await reader.one(board)).Processors)));
  return found;
}

/** The system's interfaces, else the ports of the chassis' network adapters, where BMCs list cards that no OS has spoken of yet. */
async function nics(reader: Reader, system: JsonObject, chassis: JsonObject): Promise<OobInventory['nics']> {
  const own = (await reader.members(system.EthernetInterfaces)).flatMap(nicOf);
  if (own.length > 0) return own;
  const found: JsonObject[] = [];
  for (const adapter of await reader.members(chassis.NetworkAdapters))
    for (const { Ethernet, Id = '', Name = '' } of await reader.members(adapter.NetworkDeviceFunctions))
      found.push({ Id, Name, ...asObject(Ethernet) });
  return found.flatMap(nicOf);
}

/** The drives hang on storage controllers, each of which lists links to its own; older BMCs have them in SimpleStorage. */
async function drives(reader: Reader, system: JsonObject): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (const controller of await reader.members(system.Storage)) {
    const links = Array.isArray(controller.Drives) ? controller.Drives : [];
    for (const link of links) found.push(await reader.one(link));
  }
  if (found.length > 0) return found;
  const simple = await reader.members(system.SimpleStorage);
  return simple.flatMap(({ Devices }) => (Array.isArray(Devices) ? Devices.map(asObject) : []));
}
