import { canonicalIpv6 } from '#base/ipv6Address.ts';
import { known } from '#base/known.ts';
import { ethernetKey } from '#bootserver/dhcp/clientKey.ts';
import type { Reservation, Reservations } from '#bootserver/dhcp/network.ts';
import type { Host } from './configSchema/provisioningHost.ts';
import { networkSettings } from './networks.ts';

/** The machines of `[[provisioning.hosts]]`, by the keys that the DHCP server knows clients by. */
export function localHosts(hosts: readonly Host[]): Reservations {
  const byKey = new Map(hosts.map((host) => [keyOf(host), reservation(host)]));
  const addresses = new Set(hosts.flatMap((host) => [host.address ?? [], address6(host) ?? []].flat()));
  return {
    reservation: (key) => byKey.get(key),
    isReserved: (address) => addresses.has(address),
  };
}

function keyOf({ mac, clientId = '' }: Host): string {
  return mac === undefined
    ? `id/${clientId.toLowerCase().replaceAll(':', '')}`
    : ethernetKey(mac.toLowerCase().replaceAll('-', ':'));
}

function reservation(host: Host): Reservation {
  return {
    ...networkSettings(host),
    ...known({ address: host.address, address6: address6(host), hostname: host.hostname }),
  };
}

function address6(host: Host): string | undefined {
  return canonicalIpv6(host.address6 ?? '');
}
