import { quirksFor } from '#contract/bootQuirks.ts';
import type { Boots } from './boots.ts';
import { inSubnet } from './dhcp/address.ts';
import type { DhcpNetwork, Reservations } from './dhcp/network.ts';
import type { Holders } from './holders.ts';
import type { WrapsTo } from './tftp/blockNumbers.ts';

export interface WrapsToParts {
  networks: readonly Pick<DhcpNetwork, 'subnet' | 'quirks'>[];
  reservations: Reservations;
  boots: Boots;
  holders: Holders;
}

/**
 * What follows block 65,535 of a TFTP transfer to the client at `address`: 0 unless a quirk of its network or of the machine says
 * otherwise, for the class of client that it was when it last asked by DHCP.
 */
export function wrapsTo(address: string, { networks, reservations, boots, holders }: WrapsToParts): WrapsTo {
  const mac = holders.macAt(address);
  const network = networks.find(({ subnet }) => inSubnet(address, subnet));
  const own = mac === undefined ? undefined : reservations.reservation(`1/${mac}`)?.quirks;
  const kind = mac === undefined ? undefined : boots.kindOf(mac);
  return quirksFor(kind ?? 'any', network?.quirks, own).has('tftp-wrap-to-1') ? 1 : 0;
}
