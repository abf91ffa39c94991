import type { Clock } from '#base/clock.ts';
import { known } from '#base/known.ts';
import type { Log } from '#base/log.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { autoexecName, bootScript } from '#ipxe/bootScript.ts';
import type { Boots } from './boots.ts';
import type { Subnet } from './dhcp/address.ts';
import type { Leases } from './dhcp/leases.ts';
import type { AddressPool, DhcpMode, DhcpNetwork, NetworkSettings, Reservations } from './dhcp/network.ts';
import { dhcpPorts } from './dhcp/ports.ts';
import { startDhcpServer } from './dhcp/server.ts';
import { startServer4011 } from './dhcp/server4011.ts';
import type { HeardAddresses } from './heardAddresses.ts';
import type { Holders } from './holders.ts';
import { grubConfigFiles } from './http/grubConfig.ts';
import type { ImageReader } from './http/imageReader.ts';
import type { Route } from './http/route.ts';
import { bootRoutes } from './http/routes.ts';
import { type BootHttp, type ServerCertificate, startBootHttp } from './http/server.ts';
import type { BootDecision, MachineFacts } from './machine.ts';
import type { PacketTap } from './packetTap.ts';
import type { RaspberryPiFiles } from './raspberryPiFiles.ts';
import type { Sighting } from './sighting.ts';
import { transferLimits } from './tftp/limits.ts';
import { startTftpServer } from './tftp/server.ts';
import type { TransferReport } from './tftp/session.ts';
import { wrapsTo } from './wrapsTo.ts';

/** A network that the site has an interface on, and what its machines are told. */
export interface BootNetwork extends NetworkSettings {
  mode: DhcpMode;
  /** One interface has one network. */
  interface: string;
  /** Our own on it: DHCP, TFTP and HTTP answer there. */
  address: string;
  prefixLength: number;
  /** Without it only reservations are served. */
  pool?: AddressPool;
  leaseSeconds: number;
  /** `https://<address>:8443`: where ramdisks join; also told to them by DHCP. */
  machineUrl: string;
  /** Descriptors of sockets that the service manager has bound; without them the server binds by itself. */
  sockets?: { dhcp?: readonly number[]; tftp?: number; pxe?: number };
}

/** A network that is reached through relay agents only: its machines are told the address at which the relay asks. */
export interface RelayedNetwork extends NetworkSettings {
  mode: DhcpMode;
  subnet: Subnet;
  pool?: AddressPool;
  leaseSeconds: number;
}

/** HTTPS for firmware that can, beside HTTP. */
export interface HttpsBoot {
  port: number;
  /** For the addresses of all networks. */
  tls: ServerCertificate;
  /** Whether firmware that boots by HTTP is given the `https` URL. */
  offered: boolean;
}

/** What all networks of a boot server share. */
export interface BootParts {
  relayed: readonly RelayedNetwork[];
  reservations: Reservations;
  decide(machine: MachineFacts): BootDecision | Promise<BootDecision>;
  images: ImageReader;
  files: ReadonlyMap<string, Buffer>;
  raspberryPi: RaspberryPiFiles;
  boots: Boots;
  leases: Leases;
  sighted?(sighting: Sighting): void;
  tap?: PacketTap;
  heard: HeardAddresses;
  holders: Holders;
  ports: { http: number; dhcp: number; tftp: number; pxe: number };
  https?: HttpsBoot;
  log: Log;
  clock: Clock;
}

export interface RunningNetwork extends Closable {
  readonly address: string;
  /** `http://<address>:<port>` of the boot listener. */
  readonly httpUrl: string;
  /** The same with TLS, where there is one. */
  readonly httpsUrl?: string;
}

/** Opens the listeners of one network: HTTP and TFTP on our address, DHCP on the interface. @throws Error with a system `code` */
export async function startBootNetwork(network: BootNetwork, parts: BootParts): Promise<RunningNetwork> {
  const started: Closable[] = [];
  try {
    const http = await startHttp(network, parts);
    started.push(http);
    const https = await startHttps(network, http.url, parts, started);
    const loaderUrl = parts.https?.offered ? (https?.url ?? http.url) : http.url;
    started.push(await startTftp(network, http.url, parts));
    const urls = { httpUrl: http.url, loaderUrl };
    for (const start of dhcpServers(network, parts)) started.push(await start(network, urls, parts));
    const { address } = network;
    return { address, httpUrl: http.url, ...known({ httpsUrl: https?.url }), close: () => closeAll(started) };
  } catch (error) {
    await closeAll(started);
    throw error;
  }
}

function startHttp(network: BootNetwork, parts: BootParts) {
  const { address } = network;
  const routes = (httpUrl: string) => routesOf(network, httpUrl, parts);
  return startBootHttp({ address, port: parts.ports.http, routes, log: parts.log });
}

function routesOf({ address, machineUrl }: BootNetwork, httpUrl: string, parts: BootParts): Route[] {
  const script = bootScript(httpUrl, address);
  return bootRoutes({ ...parts, script, autoexec: script, machineUrl, httpUrl });
}

/** For firmware that boots by HTTPS, and for BMCs. What iPXE fetches afterwards is at `httpUrl`: it trusts no CA of ours. */
async function startHttps(
  network: BootNetwork,
  httpUrl: string,
  parts: BootParts,
  started: Closable[],
): Promise<BootHttp | undefined> {
  if (parts.https === undefined) return undefined;
  const { port, tls } = parts.https;
  const routes = () => routesOf(network, httpUrl, parts);
  const https = await startBootHttp({ address: network.address, port, tls, routes, log: parts.log });
  started.push(https);
  return https;
}

async function startTftp(network: BootNetwork, httpUrl: string, parts: BootParts): Promise<Closable> {
  const { log, clock } = parts;
  const autoexec = Buffer.from(bootScript(httpUrl, network.address));
  const networks = [{ ...network, subnet: network }, ...parts.relayed];
  const own = new Map([...parts.files, [autoexecName, autoexec], ...grubConfigFiles(httpUrl)]);
  return startTftpServer({
    address: network.address,
    port: parts.ports.tftp,
    ...(network.sockets?.tftp !== undefined && { fd: network.sockets.tftp }),
    files: { get: (name) => own.get(name) ?? parts.raspberryPi.get(name) },
    limits: await transferLimits(network.interface),
    wrapsTo: (client) => wrapsTo(client, { ...parts, networks }),
    report: (transfer) => reportTransfer(transfer, parts),
    missing: (client, file) => reportMissing(client, file, parts),
    ...(parts.tap && { tap: parts.tap.byAddress(parts.holders.macAt) }),
    log,
    clock,
  });
}

type BootUrls = Pick<DhcpNetwork, 'httpUrl' | 'loaderUrl'>;
type StartDhcp = (network: BootNetwork, urls: BootUrls, parts: BootParts) => Promise<Closable>;

function dhcpServers({ mode }: BootNetwork, { relayed }: BootParts): StartDhcp[] {
  const { dhcp, pxe } = dhcpPorts(
    mode,
    relayed.map((network) => network.mode),
  );
  return [...(dhcp ? [startDhcp] : []), ...(pxe ? [start4011] : [])];
}

function startDhcp(network: BootNetwork, urls: BootUrls, parts: BootParts): Promise<Closable> {
  const fds = network.sockets?.dhcp;
  return startDhcpServer({
    ...parts,
    interfaceName: network.interface,
    port: parts.ports.dhcp,
    ...(fds !== undefined && { fds }),
    networks: dhcpNetworks(network, urls, parts),
  });
}

function start4011(network: BootNetwork, urls: BootUrls, parts: BootParts): Promise<Closable> {
  const fd = network.sockets?.pxe;
  return startServer4011({
    ...parts,
    address: network.address,
    port: parts.ports.pxe,
    ...(fd !== undefined && { fd }),
    networks: dhcpNetworks(network, urls, parts),
  });
}

function dhcpNetworks(
  network: BootNetwork,
  urls: BootUrls,
  { relayed }: BootParts,
): [DhcpNetwork, ...DhcpNetwork[]] {
  const { address, machineUrl } = network;
  const own: DhcpNetwork = { ...network, subnet: network, ...urls };
  return [own, ...relayed.map((one) => ({ ...one, address, ...urls, machineUrl }))];
}

/** A finished download of a loader is a step of the machine's boot; a probe of its size is none. */
export function reportTransfer(
  transfer: TransferReport,
  { boots, holders, log }: Pick<BootParts, 'boots' | 'holders' | 'log'>,
): void {
  if (transfer.outcome === 'probed') {
    log.debug(transfer, 'TFTP size probe');
    return;
  }
  log[transfer.outcome === 'complete' ? 'info' : 'warn'](transfer, `TFTP ${transfer.outcome}`);
  const mac = holders.macAt(transfer.client);
  if (mac === undefined) return;
  const { file, outcome, bytes, blockSize, resentBlocks } = transfer;
  const fact = { step: 'tftp', file, outcome, bytes, blockSize, resentBlocks } as const;
  boots.note(mac, 'boot.tftp', `${file} ${outcome}, ${bytes} bytes`, fact);
  if (transfer.outcome === 'complete') boots.loaderGiven(mac);
}

/** A file that is not here was asked for: a step of the machine's boot, once in a boot. Loaders look for files that need not exist. */
export function reportMissing(
  client: string,
  file: string,
  { boots, holders }: { boots: Boots; holders: Pick<Holders, 'macAt'> },
): void {
  const mac = holders.macAt(client);
  const name = file.replace(/[^ -~]+/g, '?').slice(0, 128);
  if (mac === undefined || !boots.isFirstMiss(mac, name)) return;
  boots.note(mac, 'boot.tftp', `asked for ${name}, there is no such file`, { step: 'no-file', file: name });
}
