/** What another DHCP server's configuration says that a site can say too, whatever file it stood in. */
export interface Imported {
  networks: ImportedNetwork[];
  hosts: ImportedHost[];
  /** What was not taken over, and why: nothing is left out without a word. */
  left: LeftOut[];
}

export interface ImportedNetwork {
  /** First address of the network: `10.77.0.0`. */
  network: string;
  prefixLength: number;
  ranges: { first: string; last: string }[];
  options: ImportedOption[];
  leaseSeconds?: number;
  interface?: string;
}

/** A machine, by its Ethernet address or its client identifier. */
export interface ImportedHost {
  mac?: string;
  /** In hex. */
  clientId?: string;
  address?: string;
  address6?: string;
  hostname?: string;
  options: ImportedOption[];
}

export interface ImportedOption {
  /** The number of RFC 2132 and its followers. */
  number: number;
  value: OptionValue;
}

export type OptionValue =
  | { kind: 'addresses'; addresses: string[] }
  | { kind: 'text'; text: string }
  | { kind: 'names'; names: string[] }
  | { kind: 'routes'; routes: { destination: string; router: string }[] }
  /** The bytes as they go over the wire, in hex. */
  | { kind: 'bytes'; hex: string };

export interface LeftOut {
  /** `line 12`, or a path such as `Dhcp4.subnet4[0].pools`. */
  where: string;
  what: string;
  why: string;
}

/** Why a line or statement is not taken over; its reader throws it, the loop over the file notes it in `left`. */
export class NotTaken extends Error {}
