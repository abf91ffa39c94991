import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient, Resource } from '../client.ts';
import { asObject, type JsonObject, linkOf } from '../json.ts';
import { followTask } from '../task.ts';

export interface AttributeBoot {
  client: RedfishClient;
  system: JsonObject;
  /** Attributes of the manager and the values that they are to have. */
  attributes: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  deadline: number;
}

/**
 * Sets a boot device by attributes of the manager's own, where the standard's Boot property means something else, and reads them back.
 * They are found by links: below `Links.Oem` of the manager (iDRAC 9, 10), else its `Attributes` (iDRAC 8).
 * @throws RailheadError UNSUPPORTED, reason `boot-device`, without such attributes; DRIVER_ERROR, reason `not-stored`
 */
export async function bootByAttributes({
  client,
  system,
  attributes,
  deadline,
}: AttributeBoot): Promise<void> {
  const resource = await attributeResource(client, system, Object.keys(attributes));
  if (differing(resource, attributes).length === 0) return;
  await followTask(client, await client.patch(resource, { Attributes: attributes }), deadline);
  const after = await client.get(resource.path);
  const wrong = differing(after, attributes);
  if (wrong.length === 0) return;
  throw new RailheadError(
    'DRIVER_ERROR',
    `the BMC accepted the boot device and did not store it (${wrong.join(', ')}): update its firmware or set it by hand`,
    { reason: 'not-stored', asked: attributes, found: asObject(after.body.Attributes) },
  );
}

async function attributeResource(
  client: RedfishClient,
  system: JsonObject,
  names: readonly string[],
): Promise<Resource> {
  const managers = asObject(system.Links).ManagedBy;
  for (const manager of Array.isArray(managers) ? managers : []) {
    const link = linkOf(manager);
    if (link === undefined) continue;
    for (const candidate of attributeLinks((await client.get(link)).body)) {
      const resource = await client.get(candidate).catch(noneWhereRefused);
      const attributes = asObject(resource?.body.Attributes);
      if (resource !== undefined && names.every((name) => attributes[name] !== undefined)) return resource;
    }
  }
  const message =
    'this BMC boots virtual media only by attributes that it does not have: boot the image over the network (pxe) instead';
  throw new RailheadError('UNSUPPORTED', message, { reason: 'boot-device', device: 'cd' });
}

/** Of several groups of attributes one may not be ours to see. */
function noneWhereRefused(error: unknown): undefined {
  if (!(error instanceof BmcRefusal)) throw error;
}

function attributeLinks(manager: JsonObject): string[] {
  const dell = asObject(asObject(asObject(manager.Links).Oem).Dell).DellAttributes;
  const links = [...(Array.isArray(dell) ? dell : []), manager.Attributes];
  return links.flatMap((link) => linkOf(link) ?? []);
}

function differing({ body }: Resource, attributes: AttributeBoot['attributes']): string[] {
  return Object.keys(attributes).filter((name) => asObject(body.Attributes)[name] !== attributes[name]);
}
