import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { JsonObject } from '../json.ts';
import type { Machine } from '../operations/powerState.ts';
import { followTask } from '../task.ts';
import { ejectSlot } from './eject.ts';
import { withDemanded } from './insertFields.ts';
import { cdSlot, type MediaSlot, slotOf } from './slots.ts';

/** The URL, what a BMC may demand beside it in several answers, and no more. */
const writeLimit = 4;
/** BMCs show a medium when they have fetched its first blocks. */
const looks = 30;
const lookPauseMs = 1000;

/**
 * Has the BMC present the image at `url` as a CD to the machine and waits until it says so. What is in the drive is taken out first;
 * the same image is left in. Only the URL is sent; what the BMC demands beside it is added.
 * @throws RailheadError UNSUPPORTED (`virtual-media`) without a drive; DRIVER_ERROR with the BMC's refusal, e.g. when it cannot read the
 *   URL, or `not-stored` when it accepted the image and shows none
 */
export async function insertMedia(machine: Machine, url: string, deadline: number): Promise<void> {
  const slot = await cdSlot(machine);
  if (slot.inserted && slot.image === url) return;
  if (slot.inserted) await ejectSlot(machine, slot, deadline);
  await write(machine, slot, url, deadline);
  await mustShow(machine, slot, url, deadline);
}

async function write(machine: Machine, slot: MediaSlot, url: string, deadline: number): Promise<void> {
  let body: JsonObject = slot.insert === undefined ? { Image: url, Inserted: true } : { Image: url };
  for (let writes = 1; ; writes++) {
    try {
      return await followTask(machine.client, await send(machine, slot, body), deadline);
    } catch (error) {
      if (!(error instanceof BmcRefusal) || writes === writeLimit) throw error;
      const next = withDemanded(body, url, error.messages);
      if (next === undefined) throw error;
      body = next;
    }
  }
}

/** A drive without the action is changed like any resource (Lenovo SD530). */
async function send({ client }: Machine, { resource, insert }: MediaSlot, body: JsonObject) {
  return insert === undefined
    ? client.patch(await client.get(resource.path), body)
    : client.post(insert, body);
}

async function mustShow(
  { client }: Machine,
  { resource }: MediaSlot,
  url: string,
  deadline: number,
): Promise<void> {
  let found: MediaSlot | undefined;
  for (let look = 1; look <= looks && client.clock.now() <= deadline; look++) {
    found = slotOf(await client.get(resource.path));
    if (found.inserted) return;
    await client.clock.sleep(lookPauseMs);
  }
  throw new RailheadError(
    'DRIVER_ERROR',
    `the BMC accepted the image ${url} and its virtual drive stays empty: can the BMC reach that URL?`,
    { reason: 'not-stored', url, found: found?.image ?? null },
  );
}
