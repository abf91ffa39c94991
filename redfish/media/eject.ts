import { backoffMs } from '#base/backoff.ts';
import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { Machine } from '../operations/powerState.ts';
import { followTask } from '../task.ts';
import { BmcUnreachable } from '../transport.ts';
import { mayPass } from './passing.ts';
import { cdSlots, type MediaSlot, slotOf } from './slots.ts';

const retryLimit = 4;
const pause = { firstMs: 1000, maxMs: 10_000 };

/**
 * Takes what is in the machine's virtual CD drives out of them. Nothing in them, or no drive, is no error: what is asked for holds.
 * @throws RailheadError DRIVER_ERROR, `not-stored` when a drive accepted it and still holds the image
 */
export async function ejectMedia(machine: Machine, deadline: number): Promise<void> {
  for (const slot of await cdSlots(machine)) if (slot.inserted) await ejectSlot(machine, slot, deadline);
}

export async function ejectSlot(machine: Machine, slot: MediaSlot, deadline: number): Promise<void> {
  const { client } = machine;
  let after = slot;
  for (let tries = 1; ; tries++) {
    const failure = await trySend(machine, slot, deadline);
    // Some answer an error and are empty all the same; looking decides.
    after = slotOf(await client.get(slot.resource.path));
    if (!after.inserted) return;
    if (failure === undefined) break;
    if (tries >= retryLimit || !mayPass(failure) || client.clock.now() > deadline) throw failure;
    await client.clock.sleep(backoffMs(tries, pause));
  }
  throw new RailheadError(
    'DRIVER_ERROR',
    `the BMC still holds ${after.image ?? 'a medium'} in its virtual drive`,
    {
      reason: 'not-stored',
      found: after.image ?? null,
    },
  );
}

async function trySend(
  machine: Machine,
  slot: MediaSlot,
  deadline: number,
): Promise<BmcRefusal | BmcUnreachable | undefined> {
  try {
    await followTask(machine.client, await send(machine, slot), deadline);
    return undefined;
  } catch (error) {
    if (error instanceof BmcRefusal || error instanceof BmcUnreachable) return error;
    throw error;
  }
}

/** iLO answers 415 to an eject without a body, so there is always one (sushy note fix-eject-media-empty-dict). */
async function send({ client }: Machine, { resource, eject }: MediaSlot) {
  if (eject !== undefined) return client.post(eject, {});
  return client.patch(await client.get(resource.path), { Image: null, Inserted: false });
}
