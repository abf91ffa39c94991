import { known } from '#base/known.ts';
import type { Reservation, Reservations } from '#bootserver/dhcp/network.ts';
import type { Host } from './configSchema/provisioningHost.ts';
import { networkSettings } from './networks.ts';

/** The machines of `[[provisioning.hosts]]`, by the keys that the DHCP server knows clients by. */
export function localHosts(hosts: readonly Host[]): Reservations {
  const byKey = new Map(hosts.map((host) => [keyOf(host), reservation(host)]));
  const addresses = new Set(hosts.flatMap(({ address }) => address ?? []));
  return {
    reservation: (key) => byKey.get(key),
    isReserved: (address) => addresses.has(address),
  };
}

function keyOf({ mac, clientId = '' }: Host): string {
  return mac === undefined
    ? `id/${clientId.toLowerCase().replaceAll(':', '')}`
    : `1/${mac.toLowerCase().replaceAll('-', ':')}`;
}

function reservation(host: Host): Reservation {
  return { ...networkSettings(host), ...known({ address: host.address, hostname: host.hostname }) };
}
