import { inSubnet, type Subnet } from './dhcp/address.ts';
import type { ArpTable } from './dhcp/arpTable.ts';
import type { DhcpMode } from './dhcp/network.ts';

/** Where another server gives the addresses: who has one, as far as can be told. */
export interface HeldBeside {
  mac?: string;
}

/** Which machine has an address? Ties a download and a script to the machine that was spoken to by DHCP. */
export interface Holders {
  macAt(address: string): string | undefined;
  /** Undefined for an address of a network whose addresses are ours to give: its lease tells. */
  heldBeside(address: string): HeldBeside | undefined;
}

export interface HoldersParts {
  networks: readonly { mode: DhcpMode; subnet: Subnet }[];
  leases: { macAt(address: string): string | undefined };
  heard: { macAt(address: string): string | undefined };
  /** The kernel's own: on this interface it has just answered the machine. */
  neighbours(): ArpTable;
}

/**
 * Our lease where we give the addresses. Elsewhere the kernel's neighbour table, and behind a relay, where that knows only the router,
 * what the machine said to its DHCP server.
 */
export function addressHolders({ networks, leases, heard, neighbours }: HoldersParts): Holders {
  const heldBeside = (address: string): HeldBeside | undefined => {
    const network = networks.find(({ subnet }) => inSubnet(address, subnet));
    if (network === undefined || network.mode === 'full') return undefined;
    const mac = neighbours().get(address) ?? heard.macAt(address);
    return mac === undefined ? {} : { mac };
  };
  return {
    heldBeside,
    macAt: (address) => {
      const beside = heldBeside(address);
      return beside === undefined ? leases.macAt(address) : beside.mac;
    },
  };
}
