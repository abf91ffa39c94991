import type { OobInventory } from '#contract/oobInventory.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import { memberLinks } from '../collection.ts';
import { asObject, type JsonObject, linkOf } from '../json.ts';
import type { Machine } from '../operations/powerState.ts';
import { bmcOf, cpuOf, diskOf, gpuOf, memoryOf, nicOf, sensorsOf, systemOf } from './parts.ts';

/**
 * Reads what the BMC knows of its machine. A resource that is linked and refused, of which there are many in the field (500 without a
 * RAID card, 501, 404), costs its own part only and is named in `notes`.
 * @throws RailheadError DRIVER_ERROR when the system itself cannot be read or the BMC is lost on the way
 */
export async function inspect({ client, path }: Machine): Promise<OobInventory> {
  const system = (await client.get(path)).body;
  const reader = readerOf(client);
  const [chassis, manager] = [await reader.first(system, 'Chassis'), await reader.first(system, 'ManagedBy')];
  const processors = await reader.members(system.Processors);
  return {
    system: systemOf(system, await reader.one(system.SecureBoot)),
    bmc: bmcOf(manager),
    cpus: processors.flatMap(cpuOf),
    gpus: processors.flatMap(gpuOf),
    memory: (await reader.members(system.Memory)).flatMap(memoryOf),
    nics: (await reader.members(system.EthernetInterfaces)).flatMap(nicOf),
    disks: (await drives(reader, system)).flatMap(diskOf),
    sensors: sensorsOf(await reader.one(chassis.Thermal), await reader.one(chassis.Power)),
    notes: reader.notes,
  };
}

/** The drives hang on storage controllers; each controller lists links to its own. */
async function drives(reader: Reader, system: JsonObject): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (const controller of await reader.members(system.Storage)) {
    const links = Array.isArray(controller.Drives) ? controller.Drives : [];
    for (const link of links) found.push(await reader.one(link));
  }
  return found;
}

interface Reader {
  /** What was linked and could not be read, a sentence each. */
  notes: string[];
  /** The resource behind a link; empty when there is no link or the BMC refuses. */
  one(link: unknown): Promise<JsonObject>;
  members(collection: unknown): Promise<JsonObject[]>;
  /** The first resource that the system links to under this name. */
  first(system: JsonObject, name: string): Promise<JsonObject>;
}

function readerOf(client: RedfishClient): Reader {
  const notes: string[] = [];
  const one = async (link: unknown): Promise<JsonObject> => {
    const target = linkOf(link);
    if (target === undefined) return {};
    return (await client.get(target).catch((error) => noteOf(error, notes)))?.body ?? {};
  };
  const membersOf = async (collection: unknown): Promise<JsonObject[]> => {
    const target = linkOf(collection);
    if (target === undefined) return [];
    const links = (await memberLinks(client, target).catch((error) => noteOf(error, notes))) ?? [];
    const found: JsonObject[] = [];
    for (const link of links) found.push(await one({ '@odata.id': link }));
    return found.filter((body) => Object.keys(body).length > 0);
  };
  const first = (system: JsonObject, name: string) => {
    const links = asObject(system.Links)[name];
    return one(Array.isArray(links) ? links[0] : undefined);
  };
  return { notes, one, members: membersOf, first };
}

/** A refusal is kept as a note; a BMC that is gone ends the inspection. */
function noteOf(error: unknown, notes: string[]): undefined {
  if (!(error instanceof BmcRefusal)) throw error;
  notes.push(error.message);
  return undefined;
}
