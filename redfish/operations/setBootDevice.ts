import { RailheadError } from '#contract/errors.ts';
import type { BootDevice } from '#contract/steps.ts';
import type { RedfishClient, Resource } from '../client.ts';
import { asObject, asTexts, type JsonObject } from '../json.ts';
import { settingsLink } from '../system.ts';
import { bootByAttributes } from './bootByAttributes.ts';
import {
  type BootOverride,
  bootFields,
  noBoot,
  notKept,
  targetOf,
  type WantedBoot,
  wantedBoot,
} from './bootFields.ts';
import type { Machine } from './powerState.ts';
import { writableResource, writeBoot } from './writeBoot.ts';

const readPauseMs = 1000;

/**
 * Sets which device the machine boots next, or always, and reads it back. The least is sent first (all with
 * vendors that reset what is not sent), then what the BMC's refusal asks for; what was accepted and not kept is
 * sent once more with all fields.
 * @throws RailheadError DRIVER_ERROR `not-stored` with the fields asked and found; UNSUPPORTED when the BMC
 *   does not list the device
 */
export async function setBootDevice(
  target: Machine,
  override: BootOverride,
  deadline: number,
): Promise<BootOverride> {
  const { client, path, vendor } = target;
  const system = await client.get(path);
  if (override.device === 'cd' && vendor.cdAttributes !== undefined)
    await bootByAttributes({
      client,
      system: system.body,
      attributes: vendor.cdAttributes(override),
      deadline,
    });
  else {
    const offered = await allowedTargets(client, system.body);
    const name = targetOf(override.device, vendor, offered);
    mustBeOffered(override.device, name, offered);
    await setBoot(target, system, wantedBoot(override, name, asObject(system.body.Boot)), deadline);
  }
  return override;
}

/**
 * Takes an override back, so that the machine boots as its firmware is set up.
 * @throws RailheadError as `setBootDevice`
 */
export async function clearBootDevice(target: Machine, deadline: number): Promise<void> {
  const system = await target.client.get(target.path);
  await setBoot(target, system, noBoot(asObject(system.body.Boot)), deadline);
}

async function setBoot(
  target: Machine,
  system: Resource,
  wanted: WantedBoot,
  deadline: number,
): Promise<void> {
  const before = asObject(system.body.Boot);
  if (notKept(wanted, before, before).length === 0) return;
  const first = target.memory.bootFields ?? target.vendor.bootFields;
  let fresh: Resource | undefined = system;
  for (const choice of first === 'least' ? (['least', 'all'] as const) : (['all', 'least'] as const)) {
    const used = await writeBoot({ target, wanted, shown: before, fresh }, choice, deadline);
    fresh = undefined;
    if (await isKept(target, wanted, before)) {
      target.memory.bootFields = used;
      return;
    }
  }
  throw await notStored(target, wanted, before);
}

function mustBeOffered(device: BootDevice, name: string, offered: readonly string[]): void {
  if (offered.length === 0 || offered.includes(name)) return;
  throw new RailheadError(
    'UNSUPPORTED',
    `this BMC cannot boot from ${device}; it offers ${offered.join(', ')}`,
    { reason: 'boot-device', device, allowed: offered },
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

/**
 * Looks a few times: some BMCs show a change late. What went to the settings may show there only until the next
 * boot.
 */
async function isKept(target: Machine, wanted: WantedBoot, before: JsonObject): Promise<boolean> {
  const { client, path, memory } = target;
  for (let looks = 1; looks <= 3; looks++) {
    const system = await client.get(path);
    const places = memory.viaSettings === true ? [system, await writableResource(target)] : [system];
    if (places.some((place) => notKept(wanted, before, asObject(place.body.Boot)).length === 0)) return true;
    if (looks < 3) await client.clock.sleep(readPauseMs);
  }
  return false;
}

async function notStored(
  { client, path }: Machine,
  wanted: WantedBoot,
  before: JsonObject,
): Promise<RailheadError> {
  const asked = bootFields(wanted, before, 'all');
  const boot = asObject((await client.get(path)).body.Boot);
  const found = Object.fromEntries(Object.keys(asked).map((field) => [field, boot[field] ?? null]));
  const fields = notKept(wanted, before, boot).join(', ');
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
