import { isIPv4 } from 'node:net';
import { addressNumber, inSubnet, isHostAddress, type Subnet } from '#bootserver/dhcp/address.ts';
import { answersOn67 } from '#bootserver/dhcp/ports.ts';
import { durationMs } from '#contract/durations.ts';
import { refuse } from './configRefusal.ts';
import type { SiteConfig } from './configSchema/index.ts';
import type { RawOption } from './configSchema/networkSettings.ts';
import { subnetOf } from './networks.ts';

type Provisioning = SiteConfig['provisioning'];
type Network = Provisioning | Provisioning['subnets'][number];
type Settings = Network | Provisioning['hosts'][number];

/** Options that the server decides on by itself: lengths, the lease, who is who (RFC 2132 §9, RFC 3046). */
const ownOptions: readonly number[] = [50, 51, 52, 53, 54, 55, 57, 58, 59, 61, 82, 97, 118];

/** What a schema cannot say of the networks and hosts. @throws RailheadError INVALID_CONFIG */
export function checkNetworks(provisioning: Provisioning): void {
  const named = [
    { path: 'provisioning', network: provisioning as Network },
    ...provisioning.subnets.map((network, at) => ({ path: `provisioning.subnets[${at}]`, network })),
  ];
  for (const { path, network } of named) checkNetwork(path, network);
  const others: typeof named = [];
  for (const one of named) {
    for (const other of others) checkApart(one, other);
    others.push(one);
  }
  checkRelays(named);
  const subnets = named.map(({ network }) => subnetOf(network));
  for (const [at, host] of provisioning.hosts.entries())
    checkHost(`provisioning.hosts[${at}]`, host, subnets);
  checkHostsApart(provisioning.hosts);
}

function checkNetwork(path: string, network: Network): void {
  checkPlace(path, network);
  const subnet = subnetOf(network);
  const own = network.address;
  if (own !== undefined) hostAddress(`${path}.address`, own, subnet);
  if (network.router !== undefined) hostAddress(`${path}.router`, network.router, subnet);
  checkPool(path, network, subnet);
  checkSettings(path, network);
  for (const [at, route] of (network.routes ?? []).entries())
    hostAddress(`${path}.routes[${at}].via`, route.via, subnet);
  if (network.leaseTime !== undefined) checkLease(`${path}.leaseTime`, network.leaseTime);
}

/** Either on an interface of the site or behind a relay. */
function checkPlace(path: string, network: Network): void {
  const relayed = 'relayed' in network ? network.relayed : undefined;
  if (relayed === undefined) {
    if (network.interface === undefined)
      refuse(`${path}.interface`, 'is needed, or `relayed` in place of interface and address');
    if (network.address === undefined) refuse(`${path}.address`, 'is needed with an interface');
    if (!isIPv4(network.address)) refuse(`${path}.address`, 'must be an IPv4 address');
    return;
  }
  for (const name of ['interface', 'address'] as const)
    if (network[name] !== undefined) refuse(`${path}.${name}`, 'is not for a network behind a relay');
  checkCidr(`${path}.relayed`, relayed, 8, 30);
  if (network.router === undefined)
    refuse(`${path}.router`, 'is needed behind a relay: machines reach the site through it');
}

/** Addresses lie in the network, the pool is in order, the site is not in its own pool. */
function checkPool(path: string, { address, poolStart, poolEnd }: Network, subnet: Subnet): void {
  if (poolStart === undefined && poolEnd === undefined) return;
  if (poolStart === undefined) refuse(`${path}.poolStart`, 'is required with poolEnd');
  if (poolEnd === undefined) refuse(`${path}.poolEnd`, 'is required with poolStart');
  const first = hostAddress(`${path}.poolStart`, poolStart, subnet);
  const last = hostAddress(`${path}.poolEnd`, poolEnd, subnet);
  if (last < first) refuse(`${path}.poolEnd`, `must not be below ${path}.poolStart`);
  if (address === undefined) return;
  const own = addressNumber(address);
  if (own >= first && own <= last)
    refuse(`${path}.poolStart`, `the pool must not hold the site's own address ${address}`);
}

function checkSettings(path: string, settings: Settings): void {
  for (const name of ['dns', 'ntp'] as const) checkAddresses(`${path}.${name}`, settings[name] ?? []);
  for (const [at, route] of (settings.routes ?? []).entries()) {
    checkCidr(`${path}.routes[${at}].to`, route.to, 0, 32);
    checkAddresses(`${path}.routes[${at}].via`, [route.via]);
  }
  for (const [at, option] of (settings.options ?? []).entries())
    checkOption(`${path}.options[${at}]`, option);
}

function checkOption(path: string, option: RawOption): void {
  if (ownOptions.includes(option.number))
    refuse(`${path}.number`, `option ${option.number} is decided by the server itself`);
  const values = [option.text, option.hex, option.addresses].filter((value) => value !== undefined);
  if (values.length !== 1) refuse(path, 'must have exactly one of text, hex and addresses');
  checkAddresses(`${path}.addresses`, option.addresses ?? []);
}

function checkAddresses(path: string, addresses: readonly string[]): void {
  addresses.forEach((address, at) => {
    if (!isIPv4(address)) refuse(`${path}[${at}]`, 'must be an IPv4 address');
  });
}

function checkCidr(path: string, cidr: string, least: number, most: number): void {
  const [address = '', length = ''] = cidr.split('/');
  const prefixLength = Number(length);
  if (!isIPv4(address) || prefixLength < least || prefixLength > most)
    refuse(path, `must be an IPv4 network, with a mask of ${least} to ${most} bits`);
  if (addressNumber(address) % 2 ** (32 - prefixLength) !== 0)
    refuse(path, 'must be a network: bits beyond the mask are set');
}

/** A lease time travels as 32 bits of seconds, of which the highest value means for ever (RFC 2131 §3.3). */
function checkLease(path: string, leaseTime: string): void {
  const milliseconds = durationMs(leaseTime);
  if (milliseconds < 60_000 || milliseconds > 8760 * 3_600_000) refuse(path, 'must be 1m to 8760h');
}

/** The number of an address that a host of the network can have: neither the network's own nor its broadcast address. */
function hostAddress(path: string, text: string, subnet: Subnet): number {
  const { address, prefixLength } = subnet;
  if (!isIPv4(text)) refuse(path, 'must be an IPv4 address');
  if (!inSubnet(text, subnet)) refuse(path, `must be in the network of ${address}/${prefixLength}`);
  if (!isHostAddress(text, subnet))
    refuse(path, `must not be the first or last address of ${address}/${prefixLength}`);
  return addressNumber(text);
}

interface Named {
  path: string;
  network: Network;
}

/** What relays forward to port 67 needs an interface where another server on this host does not have it. */
function checkRelays(named: readonly Named[]): void {
  const isRelayed = ({ network }: Named) => network.address === undefined;
  const asked = named.find((one) => isRelayed(one) && answersOn67(one.network.mode));
  const own = named.filter((one) => !isRelayed(one));
  if (asked === undefined || own.some((one) => one.network.mode !== '4011-only')) return;
  refuse(
    `${asked.path}.mode`,
    'must be `4011-only` or `off`: on every interface another server of this host has port 67, which relays forward to',
  );
}

/** One interface has one network, and no address is in two. */
function checkApart(one: Named, other: Named): void {
  const { interface: device } = one.network;
  if (device !== undefined && device === other.network.interface)
    refuse(`${one.path}.interface`, `must be another than ${other.path}.interface`);
  const [mine, theirs] = [subnetOf(one.network), subnetOf(other.network)];
  if (inSubnet(mine.address, theirs) || inSubnet(theirs.address, mine))
    refuse(`${one.path}.${placeOf(one.network)}`, `must not overlap ${other.path}`);
}

function placeOf(network: Network): string {
  return network.address === undefined ? 'relayed' : 'address';
}

function checkHost(path: string, host: Provisioning['hosts'][number], subnets: readonly Subnet[]): void {
  if ((host.mac === undefined) === (host.clientId === undefined))
    refuse(path, 'must have exactly one of mac and clientId');
  checkSettings(path, host);
  if (host.router !== undefined) checkAddresses(`${path}.router`, [host.router]);
  const { address } = host;
  if (address === undefined) return;
  if (!isIPv4(address) || !subnets.some((subnet) => isHostAddress(address, subnet)))
    refuse(`${path}.address`, 'must be an address of one of the networks');
}

function checkHostsApart(hosts: Provisioning['hosts']): void {
  for (const name of ['mac', 'clientId', 'address'] as const) {
    const seen = new Map<string, number>();
    for (const [at, host] of hosts.entries()) {
      const value = host[name]?.toLowerCase().replaceAll(/[:-]/g, '');
      const other = value === undefined ? undefined : seen.get(value);
      if (other !== undefined)
        refuse(
          `provisioning.hosts[${at}].${name}`,
          `must be another than that of provisioning.hosts[${other}]`,
        );
      if (value !== undefined) seen.set(value, at);
    }
  }
}
