import { type Clock, systemClock } from '#base/clock.ts';
import { known } from '#base/known.ts';
import type { Log } from '#base/log.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import type { BootNetwork, BootParts, RelayedNetwork } from './bootNetwork.ts';
import type { BootParts6 } from './bootNetwork6.ts';
import type { BootServerOptions } from './bootServerOptions.ts';
import { Boots } from './boots.ts';
import { ethernetKey } from './dhcp/clientKey.ts';
import { LeaseStore } from './dhcp/leaseStore.ts';
import { type LeasedNetwork, Leases } from './dhcp/leases.ts';
import { neighbourTable } from './dhcp/probes.ts';
import { Lease6Table } from './dhcp6/leases.ts';
import { keptServerDuid } from './dhcp6/serverDuid.ts';
import { type HeardAddresses, openHeardAddresses } from './heardAddresses.ts';
import { addressHolders, type Holders, type HoldersParts } from './holders.ts';
import { loadBinaries, loadShim } from './ipxeBinaries.ts';
import { raspberryPiFiles, readRaspberryPiFiles } from './raspberryPiFiles.ts';

/** What the servers of all networks share. @throws RailheadError INVALID_CONFIG when no iPXE binary is there */
export async function bootParts(options: BootServerOptions): Promise<BootParts> {
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

/** What those over IPv6 share: their own leases, one identifier of the server. */
export function parts6(options: BootServerOptions, parts: BootParts): BootParts6 {
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

function leasedNetworks({ networks, relayed = [] }: BootServerOptions): LeasedNetwork[] {
  return [...networks.map((network) => ({ ...network, subnet: network })), ...relayed];
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
