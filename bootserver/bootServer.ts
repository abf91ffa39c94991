import { isIPv6 } from 'node:net';
import { type Clock, systemClock } from '#base/clock.ts';
import { known } from '#base/known.ts';
import type { Log } from '#base/log.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import type { Sqlite } from '#base/sqlite.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import {
  type BootNetwork,
  type BootParts,
  type HttpsBoot,
  type RelayedNetwork,
  type RunningNetwork,
  startBootNetwork,
} from './bootNetwork.ts';
import { type BootNetwork6, type BootParts6, startBootNetwork6 } from './bootNetwork6.ts';
import { Boots } from './boots.ts';
import { ethernetKey } from './dhcp/clientKey.ts';
import { LeaseStore } from './dhcp/leaseStore.ts';
import { type LeasedNetwork, Leases } from './dhcp/leases.ts';
import type { Reservations } from './dhcp/network.ts';
import { neighbourTable } from './dhcp/probes.ts';
import { Lease6Table } from './dhcp6/leases.ts';
import type { Dhcp6Network } from './dhcp6/network.ts';
import { keptServerDuid } from './dhcp6/serverDuid.ts';
import { type HeardAddresses, openHeardAddresses } from './heardAddresses.ts';
import { addressHolders, type Holders, type HoldersParts } from './holders.ts';
import type { ImageReader } from './http/imageReader.ts';
import { loadBinaries, loadShim } from './ipxeBinaries.ts';
import type { LastBoot } from './lastBoot.ts';
import type { BootDecision, BootEvent, MachineFacts } from './machine.ts';
import type { PacketTap } from './packetTap.ts';
import { raspberryPiFiles, readRaspberryPiFiles } from './raspberryPiFiles.ts';
import type { Sighting } from './sighting.ts';
import { installerLine, type SyslogMessage } from './syslog/message.ts';
import { type SyslogListen, startSyslogServer } from './syslog/server.ts';
import type { TroubleCounts } from './troubles.ts';

export type { BootNetwork, RelayedNetwork } from './bootNetwork.ts';
export type { BootNetwork6 } from './bootNetwork6.ts';

export interface BootServerOptions {
  /** The networks that we have an interface on, the main one first. */
  networks: readonly [BootNetwork, ...BootNetwork[]];
  /** Networks behind relay agents, which may ask on any of our interfaces. */
  relayed?: readonly RelayedNetwork[];
  /** IPv6 on networks that we have an interface on, and prefixes behind relay agents. */
  networks6?: readonly BootNetwork6[];
  relayed6?: readonly Dhcp6Network[];
  /** What the site has decided for single machines; strangers get an address of the pool. */
  reservations: Reservations;
  /** Called once per script fetch. */
  decide(machine: MachineFacts): BootDecision | Promise<BootDecision>;
  images: ImageReader;
  /** Folder with the iPXE binaries (`snponly.efi`, `undionly.kpxe`, …); they are read into memory at start. */
  ipxeDirectory: string;
  /** Folder with what the boot ROMs of Raspberry Pis load; without it they find nothing. */
  raspberryPiDirectory?: string;
  /** Folder with shim and GRUB (`shimx64.efi`, `grubx64.efi`, …); without it no machine can be handed them. */
  shimDirectory?: string;
  /** Leases of IPv6, and what was heard of other servers', are kept in tables of this database, named `dhcp…`. */
  database: Sqlite;
  /** The SQLite file of the leases, which a thread of ours alone opens. */
  leaseFile: string;
  timeline(event: BootEvent): void;
  /** Told of each machine that asks for an address. */
  sighted?(sighting: Sighting): void;
  /** Shows the packets of single machines to whoever looks at them. */
  tap?: PacketTap;
  /** The boot of the machine's newest event, of an earlier run or forgotten since. */
  lastBoot?(mac: string): LastBoot | undefined;
  log: Log;
  clock?: Clock;
  /** Default 8080, on each network's address. */
  httpPort?: number;
  https?: HttpsBoot;
  /** Takes the log of installers into the timelines of their machines. */
  syslog?: SyslogListen;
  /** Defaults 67, 547, 69 and 4011; others are for tests. */
  dhcpPort?: number;
  dhcp6Port?: number;
  tftpPort?: number;
  pxePort?: number;
}

export interface BootServer extends Closable {
  /** `http://<address>:<port>` of the main network's boot listener. */
  readonly httpUrl: string;
  /** The boot listener for a machine that reached us at `address`: that of the same network, else the main one. */
  httpUrlAt(address: string | undefined): string;
  /** The machine's ramdisk, started without a script, asks for what one would have told it: the id of its boot. */
  bootOf(mac: string): string;
  /** The MAC that took an address: by our lease, as long as it lasts, or by what is known of another server's. */
  leasedTo(address: string): string | undefined;
  /** How often machines were kept from booting, by why, since the start. */
  readonly troubles: TroubleCounts;
}

/**
 * Serves DHCP, TFTP and the boot scripts and images over HTTP on each network. All sockets are bound when it resolves;
 * when one cannot be bound, the others are closed again.
 * @throws Error with a system `code` when a port cannot be had, whose `network` says on which of `networks`; RailheadError
 *   INVALID_CONFIG when no iPXE binary is there
 */
export async function startBootServer(options: BootServerOptions): Promise<BootServer> {
  const parts = await bootParts(options);
  const { networks6 = [] } = options;
  const own6 = networks6.length > 0 ? parts6(options, parts) : undefined;
  const running: RunningNetwork[] = [];
  const started: Closable[] = [];
  try {
    for (const network of options.networks)
      running.push(await named(network, startBootNetwork(network, parts)));
    if (own6 !== undefined)
      for (const network of networks6) running.push(await named(network, startBootNetwork6(network, own6)));
    if (options.syslog !== undefined) started.push(await startSyslog(options.syslog, parts, own6));
  } catch (error) {
    await closeAll([...running, ...started]);
    throw error;
  }
  const [main] = running as [RunningNetwork];
  return {
    httpUrl: main.httpUrl,
    httpUrlAt: (address) => (running.find((one) => one.address === address) ?? main).httpUrl,
    bootOf: (mac) => parts.boots.scriptGiven(mac),
    leasedTo: (address) => (isIPv6(address) ? own6 : parts)?.holders.leasedTo(address),
    troubles: parts.boots.troubles,
    close: async () => {
      await closeAll([...running, ...started]);
      parts.heard.close();
      await parts.leases.close();
    },
  };
}

function leasedNetworks({ networks, relayed = [] }: BootServerOptions): LeasedNetwork[] {
  return [...networks.map((network) => ({ ...network, subnet: network })), ...relayed];
}

async function bootParts(options: BootServerOptions): Promise<BootParts> {
  const { log, clock = systemClock, relayed = [], database, leaseFile } = options;
  const leases = new Leases(new LeaseStore(leaseFile, database, log), leasedNetworks(options));
  const heard = heardAddresses(options);
  return {
    ...options,
    relayed,
    heard,
    leases,
    holders: holdersOn([...options.networks], relayed, { heard, leases: ofNow(leases, clock) }),
    raspberryPi: raspberryPiFiles(await raspberryPiFolder(options)),
    files: await loadFiles(options),
    boots: new Boots(neverThrowing(options.timeline, log), clock, {
      ...known({ lastBoot: options.lastBoot }),
      isNamed: (mac) => isNamed(mac, options),
    }),
    ports: {
      http: options.httpPort ?? 8080,
      dhcp: options.dhcpPort ?? 67,
      tftp: options.tftpPort ?? 69,
      pxe: options.pxePort ?? 4011,
    },
    clock,
  };
}

function isNamed(mac: string, { reservations }: BootServerOptions): boolean {
  return reservations.reservation(ethernetKey(mac)) !== undefined;
}

function heardAddresses(options: BootServerOptions): HeardAddresses {
  const { database, log } = options;
  const told = new RateLimiter({ perSecond: 1 / 60, burst: 1 });
  return openHeardAddresses({
    database,
    log,
    isNamed: (mac) => isNamed(mac, options),
    onContested: (mac, address, instead) => {
      if (told.take(mac) === 0)
        log.warn({ mac, address, instead }, 'a host at another address speaks for this machine on port 4011');
    },
  });
}

async function raspberryPiFolder({ raspberryPiDirectory: directory }: BootServerOptions) {
  return directory === undefined ? new Map<string, Buffer>() : readRaspberryPiFiles(directory);
}

async function loadFiles({ ipxeDirectory, shimDirectory }: BootServerOptions): Promise<Map<string, Buffer>> {
  const ipxe = await loadBinaries(ipxeDirectory);
  return shimDirectory === undefined ? ipxe : new Map([...ipxe, ...(await loadShim(shimDirectory))]);
}

function holdersOn(
  networks: readonly BootNetwork[],
  relayed: readonly RelayedNetwork[],
  known: Pick<HoldersParts, 'leases' | 'heard'>,
): Holders {
  const own = networks.map((network) => ({ mode: network.mode, subnet: network }));
  const neighbours = () => new Map(networks.flatMap(({ interface: name }) => [...neighbourTable(name)]));
  return addressHolders({ networks: [...own, ...relayed], ...known, neighbours });
}

function ofNow(leases: Leases, clock: Clock): Holders {
  return {
    macAt: (address) => leases.macAt(address),
    leasedTo: (address) => leases.leasedTo(address, clock.now()),
  };
}

/** What IPv6 shares: its own leases, one identifier of the server. */
function parts6(options: BootServerOptions, parts: BootParts): BootParts6 {
  const leases = new Lease6Table(options.database);
  return {
    ...parts,
    relayed: options.relayed6 ?? [],
    leases,
    holders: {
      macAt: (address) => leases.macAt(address),
      leasedTo: (address) => leases.leasedTo(address, parts.clock.now()),
    },
    serverDuid: keptServerDuid(options.database),
    ports: { ...parts.ports, dhcp6: options.dhcp6Port ?? 547 },
  };
}

/** @throws Error with a system `code` when the port cannot be had, whose `syslog` is true */
async function startSyslog(
  listen: SyslogListen,
  { boots, holders, log }: BootParts,
  parts6: BootParts6 | undefined,
): Promise<Closable> {
  const macAt = (address: string) => (isIPv6(address) ? parts6?.holders : holders)?.macAt(address);
  const logged = (mac: string, message: SyslogMessage) =>
    boots.logged(mac, installerLine(message), message.severity);
  try {
    return await startSyslogServer({ ...listen, macAt, logged, log });
  } catch (error) {
    throw Object.assign(error as Error, { syslog: true });
  }
}

/** An error says of which network it is. */
async function named(
  network: BootNetwork | BootNetwork6,
  starting: Promise<RunningNetwork>,
): Promise<RunningNetwork> {
  try {
    return await starting;
  } catch (error) {
    throw Object.assign(error as Error, { network });
  }
}

/** Advice is for the log too. A boot goes on when its history cannot be written. */
function neverThrowing(timeline: BootServerOptions['timeline'], log: Log): BootServerOptions['timeline'] {
  return (event) => {
    if (event.type === 'boot.advice') log.warn({ mac: event.mac, bootId: event.bootId }, event.text);
    try {
      timeline(event);
    } catch (error) {
      log.error({ err: error, ...event }, 'a boot event was lost');
    }
  };
}
