import type { RedfishClient, Resource } from './client.ts';
import { asText, linkOf } from './json.ts';

/** More members than any machine has; a collection that goes on and on is left there. */
const memberLimit = 512;

/** The links of a collection's members, page after page (DSP0266, `Members@odata.nextLink`). */
export async function memberLinks(client: RedfishClient, collection: string): Promise<string[]> {
  const links: string[] = [];
  let next: string | undefined = collection;
  for (let pages = 1; next !== undefined && pages <= memberLimit && links.length < memberLimit; pages++) {
    const { body }: Resource = await client.get(next);
    const members = Array.isArray(body.Members) ? body.Members : [];
    links.push(...members.flatMap((member) => linkOf(member) ?? []));
    next = asText(body['Members@odata.nextLink']);
  }
  return links.slice(0, memberLimit);
}

/** The members themselves, one after the other: a BMC is asked no faster than it answers. */
export async function members(client: RedfishClient, collection: string): Promise<Resource[]> {
  const resources: Resource[] = [];
  for (const link of await memberLinks(client, collection)) resources.push(await client.get(link));
  return resources;
}
