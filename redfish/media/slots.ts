import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient, Resource } from '../client.ts';
import { members } from '../collection.ts';
import { asObject, asText, asTexts, type JsonObject, linkOf } from '../json.ts';
import type { Machine } from '../operations/powerState.ts';

/** A virtual drive as it is now. */
export interface MediaSlot {
  resource: Resource;
  inserted: boolean;
  /** The URL that it shows, where the BMC shows one. */
  image: string | undefined;
  /** Targets of the actions that it has. */
  insert: string | undefined;
  eject: string | undefined;
}

/**
 * The virtual CD or DVD drive that takes an image by URL. Links are followed, never built: the drives are under the system, under a
 * manager of it, or under the managers alone (launchpad sushy 2039458, sushy note retry-on-missing-managedby). Of several the first
 * with an InsertMedia action is taken (Cisco has some without, that answer 405).
 * @throws RailheadError UNSUPPORTED (`reason` virtual-media) when there is none
 */
export async function cdSlot(machine: Machine): Promise<MediaSlot> {
  const slots = await cdSlots(machine);
  const slot = slots.find(({ insert }) => insert !== undefined) ?? slots[0];
  if (slot !== undefined) return slot;
  throw noDrive();
}

/** The URL of what is in a drive; undefined when nothing is. @throws RailheadError UNSUPPORTED (`virtual-media`) without a drive */
export async function insertedMedia(machine: Machine): Promise<string | undefined> {
  const slots = await cdSlots(machine);
  if (slots.length === 0) throw noDrive();
  return slots.find(({ inserted }) => inserted)?.image;
}

function noDrive(): RailheadError {
  return new RailheadError('UNSUPPORTED', 'this BMC has no virtual CD drive: boot over the network instead', {
    reason: 'virtual-media',
  });
}

/** Every virtual CD or DVD drive of the machine. Where they are is remembered. */
export async function cdSlots(machine: Machine): Promise<MediaSlot[]> {
  const known = await remembered(machine);
  if (known.length > 0) return known;
  const found = await lookedFor(machine);
  machine.memory.cdDrives = found.map(({ resource }) => resource.path);
  return found;
}

/** None, when one of them is no longer there: then they are looked for again. */
async function remembered({ client, memory }: Machine): Promise<MediaSlot[]> {
  const slots: MediaSlot[] = [];
  try {
    for (const drive of memory.cdDrives ?? []) slots.push(slotOf(await client.get(drive)));
    return slots;
  } catch (error) {
    if (!(error instanceof BmcRefusal)) throw error;
    delete memory.cdDrives;
    return [];
  }
}

async function lookedFor({ client, links }: Machine): Promise<MediaSlot[]> {
  const own = linkOf(links.VirtualMedia);
  if (own !== undefined) {
    const slots = await slotsOf(client, own);
    if (slots.length > 0) return slots;
  }
  for (const manager of await managerLinks(client, links)) {
    const link = linkOf((await client.get(manager)).body.VirtualMedia);
    const slots = link === undefined ? [] : await slotsOf(client, link);
    if (slots.length > 0) return slots;
  }
  return [];
}

async function slotsOf(client: RedfishClient, collection: string): Promise<MediaSlot[]> {
  const drives = await members(client, collection).catch(noneWhereMissing);
  return drives.filter(({ body }) => takesDiscs(body)).map(slotOf);
}

/** A link may lead nowhere (a system that links what only its manager has). */
function noneWhereMissing(error: unknown): Resource[] {
  if (error instanceof BmcRefusal && [404, 405, 501].includes(error.answer.status)) return [];
  throw error;
}

async function managerLinks(client: RedfishClient, system: JsonObject): Promise<string[]> {
  const managed = asObject(system.Links).ManagedBy;
  const links = (Array.isArray(managed) ? managed : []).flatMap((manager) => linkOf(manager) ?? []);
  if (links.length > 0) return links;
  const collection = linkOf((await client.root()).Managers);
  if (collection === undefined) return [];
  return (await members(client, collection)).map(({ path }) => path);
}

/** A drive that does not say what it takes is asked. */
function takesDiscs({ MediaTypes }: JsonObject): boolean {
  const types = asTexts(MediaTypes);
  return types.length === 0 || types.some((type) => type === 'CD' || type === 'DVD');
}

export function slotOf(resource: Resource): MediaSlot {
  const { body } = resource;
  const actions = asObject(body.Actions);
  const target = (name: string) => asText(asObject(actions[`#VirtualMedia.${name}`]).target);
  const image = asText(body.Image);
  return {
    resource,
    // `ConnectedVia` is "URI" on some empty drives, so it says nothing.
    inserted:
      body.Inserted === true || (typeof body.Inserted !== 'boolean' && image !== undefined && image !== ''),
    image: image === '' ? undefined : image,
    insert: target('InsertMedia'),
    eject: target('EjectMedia'),
  };
}
