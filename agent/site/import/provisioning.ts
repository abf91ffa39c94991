import { isIPv4 } from 'node:net';
import { RailheadError } from '#contract/errors.ts';
import { networkOf } from './address.ts';
import type { Imported, ImportedHost, ImportedNetwork, LeftOut } from './model.ts';
import { withNearRouters } from './nearRouters.ts';
import { largestPool } from './pool.ts';
import { settingsOf } from './settings.ts';

/** Where the site stands in the networks that it takes over: no other server's file says that. */
export interface SitePlace {
  interface?: string;
  address: string;
}

export interface ImportedConfig {
  /** As `config.toml` has it, under `[provisioning]`. */
  provisioning: Record<string, unknown>;
  left: LeftOut[];
}

/**
 * The networks and hosts as a site's configuration says them. The network of the site's own address is the main one; the others are taken as
 * behind a relay, since their addresses of the site are not known.
 * @throws RailheadError INVALID_INPUT when the address is in none of the networks, or no interface is known
 */
export function provisioningOf(imported: Imported, place: SitePlace): ImportedConfig {
  const left = [...imported.left];
  const networks = imported.networks
    .filter((network) => hasFit(network, left))
    .map((network) => withNearRouters(network, left));
  const main = mainNetwork(networks, place.address);
  const others = networks.filter((network) => network !== main);
  const subnets = others.flatMap((network) => relayed(network, left));
  const taken = [main, ...others.filter((network) => routerOf(network) !== undefined)];
  const hosts = imported.hosts.flatMap((host, at) => hostRow(host, imported.hosts.slice(0, at), taken, left));
  const provisioning = {
    interface: interfaceName(place, main),
    address: place.address,
    prefixLength: main.prefixLength,
    ...networkRow(main, left, place.address),
    ...(subnets.length > 0 && { subnets }),
    ...(hosts.length > 0 && { hosts }),
  };
  return { provisioning, left };
}

function hasFit({ network, prefixLength }: ImportedNetwork, left: LeftOut[]): boolean {
  if (prefixLength >= 8 && prefixLength <= 30) return true;
  left.push({
    where: `${network}/${prefixLength}`,
    what: 'the network',
    why: "a site's network has a mask of 8 to 30 bits",
  });
  return false;
}

function mainNetwork(networks: readonly ImportedNetwork[], address: string): ImportedNetwork {
  const found = isIPv4(address) ? networks.find((network) => holds(network, address)) : undefined;
  if (found !== undefined) return found;
  const listed = networks.map(({ network, prefixLength }) => `${network}/${prefixLength}`).join(', ');
  const expected = `the site's own address in one of its networks (${listed || 'the file has none'})`;
  throw new RailheadError('INVALID_INPUT', `--address: must be ${expected}`, { path: 'address', expected });
}

function interfaceName(place: SitePlace, main: ImportedNetwork): string {
  const name = place.interface ?? main.interface;
  if (name !== undefined) return name;
  const expected = 'the interface that DHCP is served on';
  throw new RailheadError('INVALID_INPUT', `--interface: name ${expected}`, { path: 'interface', expected });
}

function networkRow(network: ImportedNetwork, left: LeftOut[], own?: string): Record<string, unknown> {
  const pool = largestPool(network, left, own);
  return {
    ...(pool !== undefined && { poolStart: pool.first, poolEnd: pool.last }),
    ...settingsOf(network.options, left),
    ...(network.leaseSeconds !== undefined && { leaseTime: leaseTime(network.leaseSeconds) }),
  };
}

function relayed(network: ImportedNetwork, left: LeftOut[]): Record<string, unknown>[] {
  const prefix = `${network.network}/${network.prefixLength}`;
  if (routerOf(network) !== undefined) return [{ relayed: prefix, ...networkRow(network, left) }];
  const why = 'a network behind a relay needs a router: add it to the file and import again';
  left.push({ where: prefix, what: 'the network', why });
  return [];
}

function routerOf({ options }: ImportedNetwork): unknown {
  return options.find(({ number }) => number === 3);
}

function hostRow(
  host: ImportedHost,
  earlier: readonly ImportedHost[],
  networks: readonly ImportedNetwork[],
  left: LeftOut[],
): Record<string, unknown>[] {
  const { options, ...named } = host;
  const why = unusable(host, earlier, networks);
  if (why === undefined) return [{ ...named, ...settingsOf(options, left) }];
  left.push({ where: keyOf(host), what: [host.address, host.hostname].filter(Boolean).join(' '), why });
  return [];
}

function keyOf({ mac, clientId }: ImportedHost): string {
  return mac ?? `client identifier ${clientId}`;
}

function unusable(
  host: ImportedHost,
  earlier: readonly ImportedHost[],
  networks: readonly ImportedNetwork[],
): string | undefined {
  const { address } = host;
  if (earlier.some((other) => keyOf(other) === keyOf(host))) return 'this machine is reserved for already';
  if (address === undefined) return undefined;
  if (earlier.some((other) => other.address === address)) return 'this address is reserved already';
  return networks.some((network) => holds(network, address))
    ? undefined
    : 'its address is in none of the networks taken over';
}

function holds({ network, prefixLength }: ImportedNetwork, address: string): boolean {
  return networkOf(address, prefixLength) === network;
}

/** A site lends for a minute to a year. */
function leaseTime(seconds: number): string {
  const within = Math.min(Math.max(seconds, 60), 8760 * 3600);
  if (within % 3600 === 0) return `${within / 3600}h`;
  return within % 60 === 0 ? `${within / 60}m` : `${within}s`;
}
