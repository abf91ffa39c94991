import { isIPv6 } from 'node:net';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { type BootNetwork, type BootParts, type RunningNetwork, startBootNetwork } from './bootNetwork.ts';
import { type BootNetwork6, type BootParts6, startBootNetwork6 } from './bootNetwork6.ts';
import { bootParts, parts6 } from './bootParts.ts';
import type { BootServerOptions } from './bootServerOptions.ts';
import { installerLine, type SyslogMessage } from './syslog/message.ts';
import { type SyslogListen, startSyslogServer } from './syslog/server.ts';
import type { TroubleCounts } from './troubles.ts';

export type { BootNetwork, RelayedNetwork } from './bootNetwork.ts';
export type { BootNetwork6 } from './bootNetwork6.ts';
export type { BootServerOptions } from './bootServerOptions.ts';

export interface BootServer extends Closable {
  /** `http://<address>:<port>` of the main network's boot listener. */
  readonly httpUrl: string;
  /** The boot listener for a machine that reached us at `address`: that of the same network, else the main one. */
  httpUrlAt(address: string | undefined): string;
  /** The same, with TLS too where that is served. */
  urlsAt(address: string | undefined): string[];
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
  const at = (address: string | undefined) => running.find((one) => one.address === address) ?? main;
  return {
    httpUrl: main.httpUrl,
    httpUrlAt: (address) => at(address).httpUrl,
    urlsAt: (address) => [at(address).httpUrl, at(address).httpsUrl ?? []].flat(),
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
