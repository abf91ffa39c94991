import { inSubnet, type Subnet } from './dhcp/address.ts';
import type { ArpTable } from './dhcp/arpTable.ts';
import type { DhcpMode } from './dhcp/network.ts';

/** Which machine has an address? Ties a download and a script to the machine that was spoken to by DHCP. */
export interface Holders {
  /** Whoever was offered it last, or has it: for what is written of machines. */
  macAt(address: string): string | undefined;
  /** Who took it, as far as can be told: for what is given to a machine alone. */
  leasedTo(address: string): string | undefined;
}

export interface HoldersParts {
  networks: readonly { mode: DhcpMode; subnet: Subnet }[];
  leases: Holders;
  heard: { macAt(address: string): string | undefined };
  /** The kernel's own: on this interface it has just answered the machine. */
  neighbours(): ArpTable;
}

/**
 * Our lease where we give the addresses. Elsewhere the kernel's neighbour table, and behind a relay, where that knows only the router,
 * what the machine said to its DHCP server.
 */
export function addressHolders({ networks, leases, heard, neighbours }: HoldersParts): Holders {
  const heldBeside = (address: string): { mac?: string } | undefined => {
    const network = networks.find(({ subnet }) => inSubnet(address, subnet));
    if (network === undefined || network.mode === 'full') return undefined;
    const mac = neighbours().get(address) ?? heard.macAt(address);
    return mac === undefined ? {} : { mac };
  };
  const holder = (ours: keyof Holders) => (address: string) => {
    const beside = heldBeside(address);
    return beside === undefined ? leases[ours](address) : beside.mac;
  };
  return { macAt: holder('macAt'), leasedTo: holder('leasedTo') };
}
