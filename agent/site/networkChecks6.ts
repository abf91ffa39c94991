import { isIPv6 } from 'node:net';
import { addressNumber, inPrefix, type Prefix } from '#bootserver/dhcp6/address.ts';
import { refuse } from './configRefusal.ts';
import type { SiteConfig } from './configSchema/index.ts';
import type { Ipv6 } from './configSchema/ipv6.ts';

type Provisioning = SiteConfig['provisioning'];

interface Named {
  path: string;
  ipv6: Ipv6;
  /** Whether the site has an interface on that network. */
  isOwn: boolean;
}

/** So many addresses are looked through for a free one at most. */
const mostInPool = 65_536n;

/** What a schema cannot say of IPv6. @throws RailheadError INVALID_CONFIG */
export function checkNetworks6(provisioning: Provisioning): void {
  const networks = [provisioning, ...provisioning.subnets].flatMap((network, at): Named[] => {
    const path = at === 0 ? 'provisioning.ipv6' : `provisioning.subnets[${at - 1}].ipv6`;
    const isOwn = network.interface !== undefined;
    return network.ipv6 === undefined ? [] : [{ path, ipv6: network.ipv6, isOwn }];
  });
  const prefixes = networks.map(checkNetwork);
  for (const [at, prefix] of prefixes.entries()) {
    const overlap = prefixes.slice(0, at).find((other) => overlaps(prefix, other));
    if (overlap !== undefined)
      refuse(networks[at]?.path ?? '', `must not overlap ${networks[prefixes.indexOf(overlap)]?.path}`);
  }
  checkHosts(provisioning.hosts, prefixes);
}

function checkNetwork(named: Named): Prefix {
  const { path, ipv6 } = named;
  const prefix = prefixOf(named);
  checkPool(path, ipv6, prefix);
  for (const [at, address] of (ipv6.dns ?? []).entries())
    if (!isIPv6(address)) refuse(`${path}.dns[${at}]`, 'must be an IPv6 address');
  return prefix;
}

function prefixOf({ path, ipv6, isOwn }: Named): Prefix {
  const { address, relayed, prefixLength } = ipv6;
  if (!isOwn) return relayedPrefix(path, ipv6);
  if (relayed !== undefined) refuse(`${path}.relayed`, 'is for a network behind a relay alone');
  if (address === undefined) refuse(`${path}.address`, 'is needed with an interface');
  if (!isIPv6(address) || /^(fe[89ab]|ff)/i.test(address))
    refuse(`${path}.address`, 'must be an IPv6 address that is neither link-local nor multicast');
  return { address, prefixLength };
}

function relayedPrefix(path: string, { address, relayed }: Ipv6): Prefix {
  if (address !== undefined) refuse(`${path}.address`, 'is not for a network behind a relay');
  const [text = '', length = ''] = (relayed ?? '').split('/');
  const prefixLength = Number(length);
  if (!isIPv6(text) || prefixLength < 32 || prefixLength > 126)
    refuse(`${path}.relayed`, 'must be an IPv6 prefix of 32 to 126 bits, such as fd79::/64');
  if (addressNumber(text) % 2n ** BigInt(128 - prefixLength) !== 0n)
    refuse(`${path}.relayed`, 'must be a prefix: bits beyond its length are set');
  return { address: text, prefixLength };
}

function checkPool(path: string, { poolStart, poolEnd, address }: Ipv6, prefix: Prefix): void {
  if (poolStart === undefined && poolEnd === undefined) return;
  const first = inNetwork(`${path}.poolStart`, poolStart, prefix);
  const last = inNetwork(`${path}.poolEnd`, poolEnd, prefix);
  if (last < first) refuse(`${path}.poolEnd`, `must not be below ${path}.poolStart`);
  if (last - first >= mostInPool)
    refuse(`${path}.poolEnd`, `must leave a pool of at most ${mostInPool} addresses`);
  const own = address === undefined ? -1n : addressNumber(address);
  if (own >= first && own <= last)
    refuse(`${path}.poolStart`, `the pool must not hold the site's own address ${address}`);
}

function inNetwork(path: string, text: string | undefined, prefix: Prefix): bigint {
  if (text === undefined) refuse(path, 'is required with the other end of the pool');
  if (!isIPv6(text) || !inPrefix(text, prefix))
    refuse(path, `must be an IPv6 address in ${prefix.address}/${prefix.prefixLength}`);
  const number = addressNumber(text);
  // The lowest address of a prefix is every router's (RFC 4291 §2.6.1).
  if (number % 2n ** BigInt(128 - prefix.prefixLength) === 0n)
    refuse(path, `must not be the first address of ${prefix.address}/${prefix.prefixLength}`);
  return number;
}

function overlaps(one: Prefix, other: Prefix): boolean {
  return inPrefix(one.address, other) || inPrefix(other.address, one);
}

function checkHosts(hosts: Provisioning['hosts'], prefixes: readonly Prefix[]): void {
  const seen = new Map<bigint, number>();
  for (const [at, { mac, address6 }] of hosts.entries()) {
    if (address6 === undefined) continue;
    const path = `provisioning.hosts[${at}].address6`;
    if (mac === undefined) refuse(path, 'is for a machine that is known by mac');
    if (!isIPv6(address6) || !prefixes.some((prefix) => inPrefix(address6, prefix)))
      refuse(path, 'must be an IPv6 address of one of the networks');
    const other = seen.get(addressNumber(address6));
    if (other !== undefined) refuse(path, `must be another than that of provisioning.hosts[${other}]`);
    seen.set(addressNumber(address6), at);
  }
}
