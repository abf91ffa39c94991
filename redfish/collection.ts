import type { RedfishClient, Resource } from './client.ts';
import { asText, linkOf } from './json.ts';

/** More members than any machine has; a collection that goes on and on is left there. */
const memberLimit = 512;

/** The links of a collection's members, page after page (DSP0266, `Members@odata.nextLink`); pages in a circle end with the first again. */
export async function memberLinks(client: RedfishClient, collection: string): Promise<string[]> {
  const links = new Set<string>();
  const pages = new Set<string>();
  let next: string | undefined = collection;
  while (next !== undefined && !pages.has(next) && pages.size < memberLimit && links.size < memberLimit) {
    pages.add(next);
    const { body }: Resource = await client.get(next);
    for (const member of Array.isArray(body.Members) ? body.Members : []) links.add(linkOf(member) ?? '');
    next = asText(body['Members@odata.nextLink']);
  }
  links.delete('');
  return [...links].slice(0, memberLimit);
}

/** The members themselves, one after the other: a BMC is asked no faster than it answers. */
export async function members(client: RedfishClient, collection: string): Promise<Resource[]> {
  const resources: Resource[] = [];
  for (const link of await memberLinks(client, collection)) resources.push(await client.get(link));
  return resources;
}
