import type { Subnet } from './address.ts';

/** First and last address that strangers get. */
export interface AddressPool {
  first: string;
  last: string;
}

/** What a DHCP server says on one network. */
export interface DhcpNetwork extends Subnet {
  /** Also the server's identifier, and where boot files and scripts are. */
  address: string;
  pool?: AddressPool;
  router?: string;
  dns?: string[];
  leaseSeconds: number;
  /** `http://<address>:<port>` of the boot listener. */
  httpUrl: string;
  /** Told to ramdisks, see `contract/siteDiscovery.ts`. */
  machineUrl: string;
}

/** What a site has decided for a machine by its MAC. */
export interface Reservation {
  address?: string;
  hostname?: string;
}

/** Which machines have an address of their own? */
export interface Reservations {
  reservation(mac: string): Reservation | undefined;
  isReserved(address: string): boolean;
}
