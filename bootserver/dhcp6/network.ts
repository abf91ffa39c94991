import type { LoaderChoice } from '../machine.ts';
import type { Prefix } from './address.ts';

/** First and last address that strangers get. */
export interface Pool6 {
  first: string;
  last: string;
}

/** What DHCPv6 says on one link. */
export interface Dhcp6Network extends Prefix {
  pool?: Pool6;
  dns?: readonly string[];
  /** Domains that names without a dot are looked for in. */
  search?: readonly string[];
  leaseSeconds: number;
}

/** What DHCPv6 says of the site itself, the same on every link. */
export interface Dhcp6Site {
  /** The server's identifier. */
  duid: Buffer;
  /** The site's own address: never given to a client. */
  address: string;
  /** `tftp://[<address>]` */
  tftpUrl: string;
  /** `http://[<address>]:<port>` of the boot listener. */
  httpUrl: string;
  /** `https://[<address>]:<port>` where ramdisks join. */
  machineUrl: string;
  /** 0 to 255; where several servers offer, clients take the highest, and with 255 they do not wait for others. */
  preference: number;
}

/** Which machines have an IPv6 address of their own? */
export interface Reservations6 {
  addressOf(mac: string): string | undefined;
  isReserved(address: string): boolean;
  /** What a machine's firmware is handed; iPXE where nothing is said. */
  loader?(mac: string | undefined): LoaderChoice;
}
