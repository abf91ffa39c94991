import { canonicalIpv6 } from '#base/ipv6Address.ts';
import type { BootNetwork6 } from '#bootserver/bootServer.ts';
import type { Dhcp6Network } from '#bootserver/dhcp6/network.ts';
import { durationMs } from '#contract/durations.ts';
import type { SiteConfig } from './configSchema/index.ts';

type Provisioning = SiteConfig['provisioning'];
type Configured = Provisioning | Provisioning['subnets'][number];
type Ipv6 = NonNullable<Configured['ipv6']>;

/** IPv6 on the networks that a site has an interface on, the main one first. */
export function ownNetworks6({
  provisioning,
  machine,
}: Pick<SiteConfig, 'provisioning' | 'machine'>): Omit<BootNetwork6, 'sockets'>[] {
  return [provisioning, ...provisioning.subnets].flatMap((network) => {
    const { interface: name, ipv6 } = network;
    const address = canonicalIpv6(ipv6?.address ?? '');
    if (name === undefined || ipv6 === undefined || address === undefined) return [];
    return {
      ...common(ipv6, network, provisioning),
      mode: ipv6.mode,
      interface: name,
      address,
      prefixLength: ipv6.prefixLength,
      preference: ipv6.preference,
      machineUrl: `https://${machine.listen ?? machinePlace6(address)}`,
    };
  });
}

export function machinePlace6(address: string): string {
  return `[${address}]:8443`;
}

/** The prefixes that are reached through relay agents only. */
export function relayedNetworks6(provisioning: Provisioning): Dhcp6Network[] {
  return provisioning.subnets.flatMap((network) => {
    const { ipv6 } = network;
    if (ipv6?.relayed === undefined) return [];
    const [address = '', prefixLength] = ipv6.relayed.split('/');
    return { ...common(ipv6, network, provisioning), address, prefixLength: Number(prefixLength) };
  });
}

/** Name servers are told by their IPv6 addresses here, where there are any; domains and the lease time are as for IPv4. */
function common(
  { poolStart, poolEnd, dns }: Ipv6,
  network: Configured,
  main: Provisioning,
): Pick<Dhcp6Network, 'pool' | 'dns' | 'search' | 'leaseSeconds'> {
  const domain = network.domain ?? main.domain;
  const search = network.search ?? main.search ?? (domain === undefined ? [] : [domain]);
  const [first, last] = [canonicalIpv6(poolStart ?? ''), canonicalIpv6(poolEnd ?? '')];
  return {
    ...(first !== undefined && last !== undefined && { pool: { first, last } }),
    dns: dns ?? main.ipv6?.dns ?? [],
    search,
    leaseSeconds: durationMs(network.leaseTime ?? main.leaseTime) / 1000,
  };
}
