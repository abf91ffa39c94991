import { known } from '#base/known.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { bootScript6 } from '#ipxe/bootScript6.ts';
import { type BootParts, type RunningNetwork, reportMissing, reportTransfer } from './bootNetwork.ts';
import { ethernetKey } from './dhcp/clientKey.ts';
import type { Lease6Table } from './dhcp6/leases.ts';
import type { Dhcp6Network, Dhcp6Site } from './dhcp6/network.ts';
import { startDhcp6Server } from './dhcp6/server.ts';
import { grubConfigFiles } from './http/grubConfig.ts';
import { bootRoutes } from './http/routes.ts';
import { startBootHttp } from './http/server.ts';
import { transferLimits } from './tftp/limits.ts';
import { startTftpServer } from './tftp/server.ts';

/** IPv6 on a network that the site has an interface on. */
export interface BootNetwork6 extends Dhcp6Network {
  /** `off`: TFTP and HTTP only. */
  mode: 'full' | 'off';
  interface: string;
  /** `https://[<address>]:8443`: where ramdisks join. */
  machineUrl: string;
  preference: number;
  /** Descriptors of sockets that the service manager has bound; without them the server binds by itself. */
  sockets?: { dhcp6?: number; tftp6?: number };
}

/** What networks of IPv6 share beside what all share. */
export interface BootParts6 extends Omit<BootParts, 'leases' | 'relayed' | 'ports'> {
  leases: Lease6Table;
  relayed: readonly Dhcp6Network[];
  serverDuid: Buffer;
  ports: { http: number; dhcp6: number; tftp: number };
}

/** Opens the listeners of one network over IPv6: HTTP and TFTP on our address, DHCPv6 on the interface. @throws Error with a system `code` */
export async function startBootNetwork6(network: BootNetwork6, parts: BootParts6): Promise<RunningNetwork> {
  const started: Closable[] = [];
  const { address } = network;
  try {
    const http = await startHttp(network, parts);
    started.push(http);
    started.push(await startTftp(network, http.url, parts));
    if (network.mode === 'full') started.push(await startDhcp6(network, http.url, parts));
    return { address, httpUrl: http.url, close: () => closeAll(started) };
  } catch (error) {
    await closeAll(started);
    throw error;
  }
}

function startHttp({ address, machineUrl }: BootNetwork6, parts: BootParts6) {
  return startBootHttp({
    address,
    port: parts.ports.http,
    routes: (httpUrl) => bootRoutes({ ...parts, script: bootScript6(httpUrl), machineUrl, httpUrl }),
    log: parts.log,
  });
}

async function startTftp(network: BootNetwork6, httpUrl: string, parts: BootParts6): Promise<Closable> {
  const { log, clock } = parts;
  return startTftpServer({
    address: network.address,
    port: parts.ports.tftp,
    ...(network.sockets?.tftp6 !== undefined && { fd: network.sockets.tftp6 }),
    files: new Map([...parts.files, ...grubConfigFiles(httpUrl)]),
    limits: await transferLimits(network.interface, 'ipv6'),
    report: (transfer) => reportTransfer(transfer, parts),
    missing: (client, file) => reportMissing(client, file, parts),
    ...(parts.tap && { tap: parts.tap.byAddress(parts.holders.macAt) }),
    log,
    clock,
  });
}

function startDhcp6(network: BootNetwork6, httpUrl: string, parts: BootParts6): Promise<Closable> {
  const { leases, boots, log, clock, relayed, reservations, sighted, tap } = parts;
  return startDhcp6Server({
    interfaceName: network.interface,
    port: parts.ports.dhcp6,
    ...(network.sockets?.dhcp6 !== undefined && { fd: network.sockets.dhcp6 }),
    networks: [network, ...relayed],
    site: dhcpSite(network, httpUrl, parts.serverDuid),
    reservations: {
      addressOf: (mac) => reservations.reservation(ethernetKey(mac))?.address6,
      isReserved: reservations.isReserved,
      ...known({ loader: reservations.loader }),
    },
    leases,
    boots,
    ...(sighted !== undefined && { sighted }),
    ...(tap !== undefined && { tap }),
    log,
    clock,
  });
}

function dhcpSite(network: BootNetwork6, httpUrl: string, duid: Buffer): Dhcp6Site {
  const { address, machineUrl, preference } = network;
  return { duid, address, tftpUrl: `tftp://[${address}]`, httpUrl, machineUrl, preference };
}
