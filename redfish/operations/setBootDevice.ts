import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient, Resource } from '../client.ts';
import { asObject, asTexts, type JsonObject } from '../json.ts';
import { settingsLink } from '../system.ts';
import { followTask } from '../task.ts';
import type { Vendor } from '../vendors/vendor.ts';
import {
  adjustmentFor,
  type BootOverride,
  bootFields,
  type FieldChoice,
  notKept,
  targets,
} from './bootFields.ts';

/** What was found to work with one BMC; kept as long as it is open. */
export interface BootMemory {
  fields?: FieldChoice;
  viaSettings?: boolean;
}

export interface BootTarget {
  client: RedfishClient;
  /** Path of the ComputerSystem. */
  path: string;
  vendor: Vendor;
  memory: BootMemory;
}

const postPauseMs = 5000;
const readPauseMs = 1000;
/** An override takes this many writes at most: the least, what refusals ask for, and all. */
const writeLimit = 5;

/**
 * Sets which device the machine boots next, or always, and reads it back. The least is sent first (all with
 * vendors that reset what is not sent), then what the BMC's refusal asks for; what was accepted and not kept is
 * sent once more with all fields.
 * @throws RailheadError DRIVER_ERROR `not-stored` with the fields asked and found; UNSUPPORTED when the BMC
 *   does not list the device
 */
export async function setBootDevice(
  target: BootTarget,
  override: BootOverride,
  deadline: number,
): Promise<BootOverride> {
  const system = await target.client.get(target.path);
  const before = asObject(system.body.Boot);
  await mustBeOffered(target, override, system);
  if (notKept(override, before, before).length === 0) return override;
  const first = target.memory.fields ?? target.vendor.bootFields;
  for (const choice of first === 'least' ? (['least', 'all'] as const) : (['all', 'least'] as const)) {
    const used = await write(target, override, before, choice, deadline);
    if (await isKept(target, override, before)) {
      target.memory.fields = used;
      return override;
    }
  }
  throw await notStored(target, override, before);
}

async function mustBeOffered(
  { client, vendor }: BootTarget,
  { device }: BootOverride,
  system: Resource,
): Promise<void> {
  const misleading = vendor.misleading[device];
  if (misleading !== undefined)
    throw new RailheadError('UNSUPPORTED', misleading, { reason: 'boot-device', device });
  const allowed = await allowedTargets(client, system.body);
  if (allowed.length === 0 || allowed.includes(targets[device])) return;
  throw new RailheadError(
    'UNSUPPORTED',
    `this BMC cannot boot from ${device}; it offers ${allowed.join(', ')}`,
    {
      reason: 'boot-device',
      device,
      allowed,
    },
  );
}

/** On the system, else on its settings (iDRAC10); an empty list is unknown, not none. */
async function allowedTargets(client: RedfishClient, system: JsonObject): Promise<string[]> {
  const name = 'BootSourceOverrideTarget@Redfish.AllowableValues';
  const own = asTexts(asObject(system.Boot)[name]);
  const link = settingsLink(system);
  if (own.length > 0 || link === undefined) return own;
  const settings = await client.get(link).catch(() => undefined);
  return asTexts(asObject(settings?.body.Boot)[name]);
}

/** Writes until the BMC takes it, changing what its refusals ask to change; returns which fields it took. */
async function write(
  target: BootTarget,
  override: BootOverride,
  shown: JsonObject,
  first: FieldChoice,
  deadline: number,
): Promise<FieldChoice> {
  const { client, memory } = target;
  let choice = first;
  let modeDemanded = false;
  for (let writes = 1; ; writes++) {
    const refusal = await tryWrite(target, bootFields(override, shown, choice, modeDemanded), deadline);
    if (refusal === undefined) return choice;
    const adjustment = adjustmentFor(refusal.messages);
    if (adjustment === 'wait' && client.clock.now() + postPauseMs <= deadline) {
      writes--;
      await client.clock.sleep(postPauseMs);
    } else if (writes >= writeLimit) throw refusal;
    else if (adjustment === 'add-mode' && choice === 'least') {
      choice = 'all';
      modeDemanded = true;
    } else if (adjustment === 'drop-mode' && choice === 'all') choice = 'least';
    else if (adjustment === 'use-settings' && memory.viaSettings === undefined) memory.viaSettings = true;
    else throw refusal;
  }
}

async function tryWrite(
  target: BootTarget,
  boot: JsonObject,
  deadline: number,
): Promise<BmcRefusal | undefined> {
  const { client } = target;
  try {
    const resource = await writableResource(target);
    await followTask(client, await client.patch(resource, { Boot: boot }), deadline);
    return undefined;
  } catch (error) {
    if (error instanceof BmcRefusal) return error;
    throw error;
  }
}

/**
 * The system, or its settings where the BMC sent us there and they hold Boot (AMI names a resource that does
 * not always).
 */
async function writableResource({ client, path, memory }: BootTarget): Promise<Resource> {
  const system = await client.get(path);
  const link = memory.viaSettings === true ? settingsLink(system.body) : undefined;
  if (link === undefined) return system;
  const settings = await client.get(link);
  return settings.body.Boot === undefined ? system : settings;
}

/**
 * Looks a few times: some BMCs show a change late. What went to the settings may show there only until the next
 * boot.
 */
async function isKept(target: BootTarget, override: BootOverride, before: JsonObject): Promise<boolean> {
  const { client, path, memory } = target;
  for (let looks = 1; looks <= 3; looks++) {
    const system = await client.get(path);
    const places = memory.viaSettings === true ? [system, await writableResource(target)] : [system];
    if (places.some((place) => notKept(override, before, asObject(place.body.Boot)).length === 0))
      return true;
    if (looks < 3) await client.clock.sleep(readPauseMs);
  }
  return false;
}

async function notStored(
  { client, path }: BootTarget,
  override: BootOverride,
  before: JsonObject,
): Promise<RailheadError> {
  const asked = bootFields(override, before, 'all');
  const boot = asObject((await client.get(path)).body.Boot);
  const found = Object.fromEntries(Object.keys(asked).map((field) => [field, boot[field] ?? null]));
  const fields = notKept(override, before, boot).join(', ');
  return new RailheadError(
    'DRIVER_ERROR',
    `the BMC accepted the boot device and did not store it (${fields}): update its firmware or set it by hand`,
    {
      reason: 'not-stored',
      asked,
      found,
    },
  );
}
