import { type Clock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import type { Sqlite } from '#base/sqlite.ts';
import { Boots } from './boots.ts';
import { LeaseTable } from './dhcp/leases.ts';
import type { Reservation } from './dhcp/network.ts';
import { startDhcpServer } from './dhcp/server.ts';
import type { ImageReader } from './http/imageReader.ts';
import { bootRoutes } from './http/routes.ts';
import { startBootHttp } from './http/server.ts';
import { loadBinaries } from './ipxeBinaries.ts';
import type { BootDecision, BootEvent, MachineFacts } from './machine.ts';
import { transferLimits } from './tftp/limits.ts';
import { startTftpServer } from './tftp/server.ts';
import type { TransferReport } from './tftp/session.ts';

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
  /** The boot of the machine's newest event of an earlier run. */
  lastBoot?(mac: string): string | undefined;
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
  /** The machine's ramdisk, started without a script, asks for what one would have told it: the id of its boot. */
  bootOf(mac: string): string;
}

/**
 * Serves DHCP, TFTP and the boot scripts and images over HTTP on one interface. All sockets are bound when it resolves;
 * when one cannot be bound, the others are closed again.
 * @throws Error with a system `code` when a port cannot be had, RailheadError INVALID_CONFIG when no iPXE binary is there
 */
export async function startBootServer(options: BootServerOptions): Promise<BootServer> {
  const { log, clock = systemClock } = options;
  const files = await loadBinaries(options.ipxeDirectory);
  const boots = new Boots(neverThrowing(options.timeline, log), clock, options.lastBoot);
  const leases = new LeaseTable(options.database);
  const started: Closable[] = [];
  try {
    const http = await startBootHttp({
      address: options.interface.address,
      port: options.httpPort ?? 8080,
      routes: (httpUrl) => bootRoutes({ ...options, httpUrl, files, boots, leases }),
      log,
    });
    started.push(http);
    started.push(await startTftp(options, files, boots, leases, clock));
    started.push(await startDhcp(options, http.url, boots, leases, clock));
    return {
      httpUrl: http.url,
      bootOf: (mac) => boots.scriptGiven(mac),
      close: () => closeAll(started),
    };
  } catch (error) {
    await closeAll(started);
    throw error;
  }
}

/** A boot goes on when its history cannot be written. */
function neverThrowing(timeline: BootServerOptions['timeline'], log: Log): BootServerOptions['timeline'] {
  return (event) => {
    try {
      timeline(event);
    } catch (error) {
      log.error({ err: error, ...event }, 'a boot event was lost');
    }
  };
}

async function startTftp(
  options: BootServerOptions,
  files: ReadonlyMap<string, Buffer>,
  boots: Boots,
  leases: LeaseTable,
  clock: Clock,
): Promise<Closable> {
  return startTftpServer({
    address: options.interface.address,
    port: options.tftpPort ?? 69,
    ...(options.sockets?.tftp !== undefined && { fd: options.sockets.tftp }),
    files,
    limits: await transferLimits(options.interface.name),
    report: (transfer) => reportTransfer(transfer, boots, leases, options.log),
    log: options.log,
    clock,
  });
}

function startDhcp(
  options: BootServerOptions,
  httpUrl: string,
  boots: Boots,
  leases: LeaseTable,
  clock: Clock,
): Promise<Closable> {
  return startDhcpServer({
    interfaceName: options.interface.name,
    port: options.dhcpPort ?? 67,
    ...(options.sockets?.dhcp !== undefined && { fd: options.sockets.dhcp }),
    network: { ...options.interface, httpUrl, machineUrl: options.machineUrl },
    reservations: { reservation: options.reservations, isReserved: options.isReserved },
    leases,
    boots,
    log: options.log,
    clock,
  });
}

/** A finished download of a loader is a step of the machine's boot; a probe of its size is none. */
function reportTransfer(transfer: TransferReport, boots: Boots, leases: LeaseTable, log: Log): void {
  if (transfer.outcome === 'probed') {
    log.debug(transfer, 'TFTP size probe');
    return;
  }
  log[transfer.outcome === 'complete' ? 'info' : 'warn'](transfer, `TFTP ${transfer.outcome}`);
  const mac = leases.macAt(transfer.client);
  if (mac === undefined) return;
  boots.note(mac, 'boot.tftp', `${transfer.file} ${transfer.outcome}, ${transfer.bytes} bytes`);
  if (transfer.outcome === 'complete') boots.loaderGiven(mac);
}
