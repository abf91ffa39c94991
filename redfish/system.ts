import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from './answers.ts';
import type { RedfishClient, Resource } from './client.ts';
import { memberLinks } from './collection.ts';
import { rootPath } from './connection.ts';
import { asObject, asText, type JsonObject, linkOf } from './json.ts';

/**
 * Where the one machine behind a BMC is found. Links are followed and never built: every vendor names its
 * system differently.
 */
export async function findSystem(client: RedfishClient): Promise<{ root: JsonObject; system: Resource }> {
  const root = await client.root();
  // Some show less of their root before a login.
  const collection = linkOf(root.Systems) ?? linkOf((await client.get(rootPath)).body.Systems);
  if (collection === undefined) throw noSystem('its service root links to no systems');
  return { root, system: await theSystem(client, await memberLinks(client, collection)) };
}

/** Whether a link is to the baseboard of NVIDIA's GPUs, a second system that boots nothing and is 503 while the machine is off. */
export function isGpuBaseboard(link: string): boolean {
  return /\/HGX_[^/]*\/?$/.test(link);
}

async function theSystem(client: RedfishClient, all: readonly string[]): Promise<Resource> {
  const hosts = all.filter((link) => !isGpuBaseboard(link));
  const links = hosts.length > 0 ? hosts : all;
  const [first] = links;
  if (first === undefined) throw noSystem('it manages no system');
  if (links.length === 1) return client.get(first);
  const systems: Resource[] = [];
  for (const link of links) systems.push(...(await shown(client, link)));
  const physical = systems.filter((system) => (asText(system.body.SystemType) ?? 'Physical') === 'Physical');
  if (physical.length === 1 && physical[0] !== undefined) return physical[0];
  throw noSystem(
    `it manages ${links.length} systems: enroll each machine by its own BMC, not by that of their chassis`,
  );
}

/** One of several, which may be switched off or not be ours to see. */
async function shown(client: RedfishClient, link: string): Promise<Resource[]> {
  return client.get(link).then(
    (system) => [system],
    (error) => {
      if (error instanceof BmcRefusal) return [];
      throw error;
    },
  );
}

function noSystem(why: string): RailheadError {
  return new RailheadError('DRIVER_ERROR', `the BMC cannot be used: ${why}`, { reason: 'no-system' });
}

/** The resource that takes changes in a system's stead, where the BMC has one. */
export function settingsLink(system: JsonObject): string | undefined {
  return linkOf(asObject(system['@Redfish.Settings']).SettingsObject);
}
