import { BmcRefusal } from '../answers.ts';
import type { Resource } from '../client.ts';
import type { JsonObject } from '../json.ts';
import { settingsLink } from '../system.ts';
import { followTask } from '../task.ts';
import { adjustmentFor, bootFields, type FieldChoice, type WantedBoot } from './bootFields.ts';
import type { Machine } from './powerState.ts';

/** A BMC whose machine is in its self-test takes no boot device. */
const postPauseMs = 5000;
/** An override takes this many writes at most: the least, what refusals ask for, and all. */
const writeLimit = 5;

export interface Writing {
  target: Machine;
  wanted: WantedBoot;
  /** Boot as it was at first. */
  shown: JsonObject;
  /** The system, when it has just been read. */
  fresh: Resource | undefined;
}

/**
 * Writes until the BMC takes it, changing what its refusals ask to change; returns which fields it took.
 * @throws BmcRefusal that asks for nothing more; as `RedfishClient.patch` and `followTask`
 */
export async function writeBoot(
  writing: Writing,
  first: FieldChoice,
  deadline: number,
): Promise<FieldChoice> {
  const { target, wanted, shown } = writing;
  const { client, memory } = target;
  let choice = first;
  let modeDemanded = false;
  let { fresh } = writing;
  for (let writes = 1; ; writes++) {
    const boot = bootFields(wanted, shown, choice, modeDemanded);
    const refusal = await tryWrite(target, boot, fresh, deadline);
    fresh = undefined;
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
  target: Machine,
  boot: JsonObject,
  fresh: Resource | undefined,
  deadline: number,
): Promise<BmcRefusal | undefined> {
  const { client } = target;
  try {
    const resource = await writableResource(target, fresh);
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
export async function writableResource(
  { client, path, memory }: Machine,
  fresh?: Resource,
): Promise<Resource> {
  const system = fresh ?? (await client.get(path));
  const link = memory.viaSettings === true ? settingsLink(system.body) : undefined;
  if (link === undefined) return system;
  const settings = await client.get(link);
  return settings.body.Boot === undefined ? system : settings;
}
