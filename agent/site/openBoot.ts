import { systemCode } from '#base/errors.ts';
import { known } from '#base/known.ts';
import type { Log } from '#base/log.ts';
import type { Sealer } from '#base/sealing.ts';
import {
  type BootNetwork6,
  type BootServer,
  type BootServerOptions,
  startBootServer,
} from '#bootserver/bootServer.ts';
import type { PacketTap } from '#bootserver/packetTap.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { bootServerCertificate } from './bootTls/kept.ts';
import { bootTurns } from './bootTurns.ts';
import { openReader } from './cache/privacy.ts';
import type { SiteConfig } from './config.ts';
import type { SeenMachines } from './discovery/seenMachines.ts';
import { listenFds } from './listenFds.ts';
import { listenPlace } from './listenPlace.ts';
import { loaderOf } from './loaderOf.ts';
import { localHosts } from './localHosts.ts';
import { ownNetworks, relayedNetworks } from './networks.ts';
import { ownNetworks6, relayedNetworks6 } from './networks6.ts';
import { type SocketService, socketName } from './socketNames.ts';
import type { SiteState } from './store/state.ts';

export interface BootParts {
  state: SiteState;
  cache: ImageCache;
  seen: SeenMachines;
  tap: PacketTap;
  log: Log;
  siteId: string;
  /** Encrypts the key of HTTPS boot on the disk; absent where its own key would lie beside. */
  sealer?: Sealer | undefined;
  /** Called when there is an event for the centre. */
  onEvent(): void;
}

/**
 * Starts the boot server as the configuration says, on the sockets that systemd has bound if it has.
 * @throws RailheadError INVALID_CONFIG when the interface, the address or a port cannot be had
 */
export async function openBoot(
  config: SiteConfig,
  environment: NodeJS.ProcessEnv,
  parts: BootParts,
): Promise<BootServer> {
  try {
    const https = await httpsBoot(config, parts);
    return await startBootServer({ ...bootOptions(config, environment, parts), ...known({ https }) });
  } catch (error) {
    if (hasCode(error, 'INVALID_CONFIG')) throw withField(error);
    const reason = systemCode(error);
    if (reason === undefined || error instanceof RailheadError) throw error;
    if ((error as { syslog?: true }).syslog) throw noSyslog(config.syslog.listen, reason, error);
    const { path, interface: name, address } = failedNetwork(error, config);
    const message = `the boot server cannot have its sockets on ${name}, ${address} (${reason}): check the interface, its address, and what else listens there`;
    throw new RailheadError('INVALID_CONFIG', message, { path: `${path}.interface`, reason }, error);
  }
}

function noSyslog(listen: string | undefined, reason: string, cause: unknown): RailheadError {
  const message = `syslog cannot have ${listen} (${reason}): check the address, what else listens there, and whether the agent may (\`bcd site sockets\` writes a socket for it)`;
  return new RailheadError('INVALID_CONFIG', message, { path: 'syslog.listen', reason }, cause);
}

async function httpsBoot(config: SiteConfig, parts: BootParts): Promise<BootServerOptions['https']> {
  const { httpsPort: port, offerHttps: offered } = config.boot;
  if (port === undefined) return undefined;
  const addresses = [...ownNetworks(config).map(({ address }) => address), ...mediaHost(config)];
  const { stateDirectory } = config;
  return { port, offered, tls: await bootServerCertificate({ stateDirectory, ...parts }, addresses) };
}

/** Where BMCs are told that the same listener is, by address or by name. */
function mediaHost({ bmc: { mediaUrl } }: SiteConfig): string[] {
  return mediaUrl === undefined ? [] : [new URL(mediaUrl).hostname.replace(/^\[|\]$/g, '')];
}

/** The boot server knows its own options, not where in the configuration they stand. */
function withField({ code, message, details, cause }: RailheadError): RailheadError {
  return new RailheadError(code, message, { ...details, path: `boot.${details.path}` }, cause);
}

function bootOptions(
  config: SiteConfig,
  environment: NodeJS.ProcessEnv,
  { state, cache, seen, tap, log, onEvent }: BootParts,
): BootServerOptions {
  const { httpPort, dhcpPort, tftpPort, ipxeDirectory, shimDirectory, raspberryPiDirectory, consoles } =
    config.boot;
  const passed = listenFds(environment);
  return {
    networks: withSockets(config, passed),
    relayed: relayedNetworks(config.provisioning),
    networks6: withSockets6(config, passed),
    relayed6: relayedNetworks6(config.provisioning),
    ...bootTurns({
      state,
      hosts: localHosts(config.provisioning.hosts),
      loader: loaderOf({ state, config: config.boot, log }),
      consoles,
      seen,
      onEvent,
      log,
    }),
    tap,
    images: openReader(cache, state),
    ipxeDirectory,
    ...known({ shimDirectory, raspberryPiDirectory, syslog: syslogListen(config, passed) }),
    database: state.database,
    leaseFile: state.leaseFile,
    log,
    httpPort,
    dhcpPort,
    tftpPort,
  };
}

/** The network whose sockets could not be had, and where it stands in the configuration. */
function failedNetwork(
  error: unknown,
  config: SiteConfig,
): { path: string; interface: string; address: string } {
  const networks = ownNetworks(config);
  const { network } = error as { network?: { interface: string } };
  const found = networks.find((one) => one.interface === network?.interface) ?? networks[0];
  const { interface: name = '', address = '' } = found ?? {};
  const at = config.provisioning.subnets.findIndex((subnet) => subnet.interface === name);
  return { path: at < 0 ? 'provisioning' : `provisioning.subnets[${at}]`, interface: name, address };
}

/** Each network with the sockets that systemd has bound for it, by the names in the units of `bcd site sockets`. */
function withSockets(
  config: SiteConfig,
  passed: ReadonlyMap<string, readonly number[]>,
): BootServerOptions['networks'] {
  const networks = ownNetworks(config).map((network, at) => {
    const fds = (service: SocketService) => passed.get(socketName(service, network.interface, at === 0));
    const [tftp, pxe] = [fds('tftp')?.[0], fds('pxe')?.[0]];
    return { ...network, sockets: known({ dhcp: fds('dhcp'), tftp, pxe }) };
  });
  return networks as unknown as BootServerOptions['networks'];
}

function syslogListen(
  { syslog: { listen } }: SiteConfig,
  passed: ReadonlyMap<string, readonly number[]>,
): BootServerOptions['syslog'] {
  if (listen === undefined) return undefined;
  const { host: address, port } = listenPlace(listen);
  return { address, port, ...known({ fd: passed.get('syslog')?.[0] }) };
}

function withSockets6(config: SiteConfig, passed: ReadonlyMap<string, readonly number[]>): BootNetwork6[] {
  const { interface: main } = config.provisioning;
  return ownNetworks6(config).map((network) => {
    const { interface: name } = network;
    const fd = (service: SocketService) => passed.get(socketName(service, name, name === main))?.[0];
    return { ...network, sockets: known({ dhcp6: fd('dhcp6'), tftp6: fd('tftp6') }) };
  });
}
