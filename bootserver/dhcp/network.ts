import type { BootQuirks } from '#contract/bootQuirks.ts';
import type { LoaderChoice } from '../machine.ts';
import type { Subnet } from './address.ts';

/**
 * Who gives the addresses on a network, and who says what to boot. `full`: we do both; `proxy`: another server gives addresses, we
 * answer on 67 and 4011; `4011-only`: that server is on this host and has port 67; `off`: no DHCP from us.
 */
export type DhcpMode = 'full' | 'proxy' | '4011-only' | 'off';

/** First and last address that strangers get. */
export interface AddressPool {
  first: string;
  last: string;
}

/** A static route: the network that is reached, and the router that leads there. */
export interface StaticRoute {
  to: Subnet;
  via: string;
}

/** An option of the operator's, by its number. */
export interface FurtherOption {
  number: number;
  value: Buffer;
  /** Only clients whose vendor class (option 60) begins with this get it. */
  vendorClass?: string;
}

/** What clients are told beside their address. */
export interface NetworkSettings {
  router?: string;
  dns?: readonly string[];
  domain?: string;
  search?: readonly string[];
  ntp?: readonly string[];
  routes?: readonly StaticRoute[];
  options?: readonly FurtherOption[];
  /** What firmware here needs in boot replies; those of the network and of the machine hold together. */
  quirks?: BootQuirks;
}

/** What a DHCP server says on one network. */
export interface DhcpNetwork extends NetworkSettings {
  mode: DhcpMode;
  subnet: Subnet;
  /** Our own, which clients were or are to be told: the server's identifier, and where boot files and scripts are. */
  address: string;
  pool?: AddressPool;
  leaseSeconds: number;
  /** `http://<address>:<port>` of the boot listener. */
  httpUrl: string;
  /** The same or, where the operator wants it, `https://…`: where firmware that boots by HTTP finds its loader. */
  loaderUrl?: string;
  /** Told to ramdisks, see `contract/siteDiscovery.ts`. */
  machineUrl: string;
}

/** What a site has decided for a machine. */
export interface Reservation extends NetworkSettings {
  address?: string;
  /** Over IPv6. */
  address6?: string;
  hostname?: string;
}

/** Which machines have an address or settings of their own? */
export interface Reservations {
  /** By `ClientFacts.key`: `1/02:00:00:00:00:01`, or `id/<hex>` where there is no hardware address. */
  reservation(key: string): Reservation | undefined;
  /** What the UEFI firmware of a machine is handed; iPXE when nothing is said. */
  loader?(mac: string | undefined): LoaderChoice;
  /** Whether some machine has this address reserved; such an address is never given to another one. */
  isReserved(address: string): boolean;
}
