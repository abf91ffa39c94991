import { backoffMs } from '#base/backoff.ts';
import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { JsonObject } from '../json.ts';
import type { Machine } from '../operations/powerState.ts';
import { followTask } from '../task.ts';
import { BmcUnreachable } from '../transport.ts';
import { ejectSlot } from './eject.ts';
import { demandedFields, demandedOf, withoutRefused } from './insertFields.ts';
import { mayPass } from './passing.ts';
import { cdSlot, type MediaSlot, slotOf } from './slots.ts';

/** The URL, what a BMC may demand beside it in several answers, and no more. */
const writeLimit = 4;
/** A BMC that was busy, or lost the connection, is asked again this often, once its drive was looked at. */
const retryLimit = 4;
const pause = { firstMs: 1000, maxMs: 10_000 };
/** BMCs show a medium when they have fetched its first blocks. */
const looks = 30;
const lookPauseMs = 1000;

/**
 * Has the BMC present the image at `url` as a CD to the machine and waits until it says so. What is in the drive is taken out first;
 * the same image is left in. Only the URL is sent, and what this BMC demanded before; what it demands beside is added.
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
  const { client, memory, vendor } = machine;
  const start: JsonObject = slot.insert === undefined ? { Image: url, Inserted: true } : { Image: url };
  let body: JsonObject = { ...start, ...demandedFields(memory.insertFields ?? vendor.insertFields, url) };
  for (let writes = 1, retries = 0; ; ) {
    const failure = await trySend(machine, slot, body, deadline);
    if (failure === undefined) break;
    const next = failure instanceof BmcRefusal ? adapted(body, url, failure) : undefined;
    if (next !== undefined && writes++ < writeLimit) body = next;
    else if (!mayPass(failure) || ++retries > retryLimit || client.clock.now() > deadline) throw failure;
    else {
      await client.clock.sleep(backoffMs(retries, pause));
      if (slotOf(await client.get(slot.resource.path)).inserted) break;
    }
  }
  memory.insertFields = Object.keys(body).filter((name) => !(name in start));
}

/** The body with what the BMC demands, or without what it refuses; undefined when it asks for neither. */
function adapted(body: JsonObject, url: string, { messages }: BmcRefusal): JsonObject | undefined {
  const demanded = demandedOf(body, url, messages);
  return demanded.length > 0 ? { ...body, ...demandedFields(demanded, url) } : withoutRefused(body, messages);
}

/** A drive without the action is changed like any resource (Lenovo SD530). */
async function trySend(
  { client }: Machine,
  { resource, insert }: MediaSlot,
  body: JsonObject,
  deadline: number,
): Promise<BmcRefusal | BmcUnreachable | undefined> {
  try {
    const answer =
      insert === undefined
        ? await client.patch(await client.get(resource.path), body)
        : await client.post(insert, body);
    await followTask(client, answer, deadline);
    return undefined;
  } catch (error) {
    if (error instanceof BmcRefusal || error instanceof BmcUnreachable) return error;
    throw error;
  }
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
