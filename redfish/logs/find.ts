import { BmcRefusal } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import { memberLinks } from '../collection.ts';
import { asObject, type Json, type JsonObject, linkOf } from '../json.ts';
import { chooseLog, type LogService } from './choose.ts';

/** More log services than any BMC has. */
const mostServices = 16;

/** Where the entries of the hardware's event log are; undefined when the BMC has no such log, or hides it. */
export async function findLog(
  client: RedfishClient,
  system: JsonObject,
  vendorNames: readonly string[],
): Promise<string | undefined> {
  const links = asObject(system.Links);
  const owners = [
    { of: 'system' as const, bodies: [system] },
    { of: 'manager' as const, bodies: await linked(client, links.ManagedBy) },
    { of: 'chassis' as const, bodies: await linked(client, links.Chassis) },
  ];
  const services: LogService[] = [];
  for (const { of, bodies } of owners)
    for (const body of bodies) services.push(...(await servicesOf(client, body.LogServices, of)));
  const chosen = chooseLog(services, vendorNames);
  return chosen && linkOf(chosen.body.Entries);
}

async function linked(client: RedfishClient, links: Json | undefined): Promise<JsonObject[]> {
  const targets = (Array.isArray(links) ? links : []).flatMap((link) => linkOf(link) ?? []).slice(0, 2);
  const bodies: JsonObject[] = [];
  for (const target of targets) bodies.push(await bodyOf(client, target));
  return bodies;
}

async function servicesOf(
  client: RedfishClient,
  collection: Json | undefined,
  of: LogService['of'],
): Promise<LogService[]> {
  const target = linkOf(collection);
  if (target === undefined) return [];
  const paths = await memberLinks(client, target).catch(emptyWhenRefused<string[]>([]));
  const services: LogService[] = [];
  for (const path of paths.slice(0, mostServices))
    services.push({ path, of, body: await bodyOf(client, path) });
  return services;
}

function bodyOf(client: RedfishClient, link: string): Promise<JsonObject> {
  return client.get(link).then(({ body }) => body, emptyWhenRefused({}));
}

/** What one resource refuses costs its own part only. */
function emptyWhenRefused<Empty>(empty: Empty): (error: unknown) => Empty {
  return (error) => {
    if (error instanceof BmcRefusal) return empty;
    throw error;
  };
}
