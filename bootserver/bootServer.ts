import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { Sqlite } from '#base/sqlite.ts';
import { RailheadError } from '#contract/errors.ts';
import type { ImageReader } from './http/imageReader.ts';
import type { BootDecision, BootEvent, MachineFacts } from './machine.ts';

/** The provisioning interface, and what its machines are told about the network. */
export interface BootInterface {
  name: string;
  address: string;
  prefixLength: number;
  /** First and last address handed out to machines without a reservation; without it only reservations are served. */
  pool?: { first: string; last: string };
  router?: string;
  dns?: string[];
  leaseSeconds: number;
}

/** What the site knows of a machine by its MAC. */
export interface Reservation {
  address?: string;
  hostname?: string;
}

export interface BootServerOptions {
  interface: BootInterface;
  /** A machine of this site by one of its MACs; undefined for a stranger, who gets an address of the pool. */
  reservations(mac: string): Reservation | undefined;
  /** Whether some machine has this address reserved; such an address is never given to another one. */
  isReserved(address: string): boolean;
  /** Called once per script fetch. */
  decide(machine: MachineFacts): BootDecision | Promise<BootDecision>;
  images: ImageReader;
  /** Folder with the iPXE binaries (`snponly.efi`, `undionly.kpxe`, …); they are read into memory at start. */
  ipxeDirectory: string;
  /** `https://<address>:8443`: where ramdisks join; also told to them by DHCP. */
  machineUrl: string;
  /** Leases are kept in tables of this database, named `dhcp_…`. */
  database: Sqlite;
  timeline(event: BootEvent): void;
  log: Log;
  clock?: Clock;
  /** Default 8080, on the interface's address. */
  httpPort?: number;
  /** Defaults 67 and 69; others are for tests. */
  dhcpPort?: number;
  tftpPort?: number;
  /** Sockets that the service manager has bound; without them the server binds by itself. */
  sockets?: { dhcp?: number; tftp?: number };
}

export interface BootServer extends Closable {
  /** `http://<address>:<port>` of the boot listener. */
  readonly httpUrl: string;
}

/**
 * Serves DHCP, TFTP and the boot scripts and images over HTTP on one interface. All sockets are bound when it resolves;
 * when one cannot be bound, the others are closed again.
 */
export async function startBootServer(options: BootServerOptions): Promise<BootServer> {
  throw new RailheadError('UNSUPPORTED', `the boot server on ${options.interface.name} is not built yet`);
}
