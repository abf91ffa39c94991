import { systemCode } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { type BootServer, type BootServerOptions, startBootServer } from '#bootserver/bootServer.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { durationMs } from '#contract/durations.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { bootTurns } from './bootTurns.ts';
import type { SiteConfig } from './config.ts';
import { listenFds } from './listenFds.ts';
import type { SiteState } from './store/state.ts';

export interface BootParts {
  state: SiteState;
  cache: ImageCache;
  /** `https://<address>:<port>` of the machine listener. */
  machineUrl: string;
  log: Log;
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
    return await startBootServer(bootOptions(config, environment, parts));
  } catch (error) {
    if (hasCode(error, 'INVALID_CONFIG')) throw withField(error);
    const reason = systemCode(error);
    if (reason === undefined || error instanceof RailheadError) throw error;
    const { interface: name, address } = config.provisioning;
    const message = `the boot server cannot have its sockets on ${name}, ${address} (${reason}): check the interface, its address, and what else listens there`;
    throw new RailheadError('INVALID_CONFIG', message, { path: 'provisioning.interface', reason }, error);
  }
}

/** The boot server knows its own options, not where in the configuration they stand. */
function withField({ code, message, details, cause }: RailheadError): RailheadError {
  return new RailheadError(code, message, { ...details, path: `boot.${details.path}` }, cause);
}

function bootOptions(
  config: SiteConfig,
  environment: NodeJS.ProcessEnv,
  { state, cache, machineUrl, log, onEvent }: BootParts,
): BootServerOptions {
  const { httpPort, dhcpPort, tftpPort, ipxeDirectory, consoles } = config.boot;
  return {
    interface: bootInterface(config.provisioning),
    ...bootTurns({ state, consoles, onEvent, log }),
    images: cache,
    ipxeDirectory,
    machineUrl,
    database: state.database,
    log,
    httpPort,
    dhcpPort,
    tftpPort,
    sockets: bootSockets(environment),
  };
}

function bootInterface(network: SiteConfig['provisioning']): BootServerOptions['interface'] {
  const { interface: name, address, prefixLength, poolStart, poolEnd, leaseTime } = network;
  return {
    name,
    address,
    prefixLength,
    pool: { first: poolStart, last: poolEnd },
    router: network.router ?? address,
    dns: [...network.dns],
    leaseSeconds: durationMs(leaseTime) / 1000,
  };
}

/** What systemd has bound for the boot server, by the names in `bcd-dhcp.socket` and `bcd-tftp.socket`. */
function bootSockets(environment: NodeJS.ProcessEnv): { dhcp?: number; tftp?: number } {
  const passed = listenFds(environment);
  const [dhcp, tftp] = [passed.get('dhcp'), passed.get('tftp')];
  return { ...(dhcp === undefined ? {} : { dhcp }), ...(tftp === undefined ? {} : { tftp }) };
}
