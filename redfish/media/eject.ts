import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { Machine } from '../operations/powerState.ts';
import { followTask } from '../task.ts';
import { cdSlots, type MediaSlot, slotOf } from './slots.ts';

/**
 * Takes what is in the machine's virtual CD drives out of them. Nothing in them, or no drive, is no error: what is asked for holds.
 * @throws RailheadError DRIVER_ERROR, `not-stored` when a drive accepted it and still holds the image
 */
export async function ejectMedia(machine: Machine, deadline: number): Promise<void> {
  for (const slot of await cdSlots(machine)) if (slot.inserted) await ejectSlot(machine, slot, deadline);
}

export async function ejectSlot(machine: Machine, slot: MediaSlot, deadline: number): Promise<void> {
  const { client } = machine;
  try {
    await followTask(client, await send(machine, slot), deadline);
  } catch (error) {
    // Some answer an error and are empty all the same; looking decides.
    if (!(error instanceof BmcRefusal)) throw error;
    if (slotOf(await client.get(slot.resource.path)).inserted) throw error;
  }
  const after = slotOf(await client.get(slot.resource.path));
  if (!after.inserted) return;
  throw new RailheadError(
    'DRIVER_ERROR',
    `the BMC still holds ${after.image ?? 'a medium'} in its virtual drive`,
    {
      reason: 'not-stored',
      found: after.image ?? null,
    },
  );
}

/** iLO answers 415 to an eject without a body, so there is always one (sushy note fix-eject-media-empty-dict). */
async function send({ client }: Machine, { resource, eject }: MediaSlot) {
  if (eject !== undefined) return client.post(eject, {});
  return client.patch(await client.get(resource.path), { Image: null, Inserted: false });
}
