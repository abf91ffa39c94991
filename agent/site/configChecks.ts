import { isIP } from 'node:net';
import { refuse } from './configRefusal.ts';
import type { SiteConfig } from './configSchema/index.ts';
import { listenPlace, type Place } from './listenPlace.ts';
import { checkNetworks } from './networkChecks.ts';
import { checkNetworks6 } from './networkChecks6.ts';
import { machineListens, ownNetworks } from './networks.ts';
import { ownNetworks6 } from './networks6.ts';

/** What a schema cannot say of a configuration. @throws RailheadError INVALID_CONFIG whose details name the `path` and what was `expected` */
export function checkConfig(config: SiteConfig): void {
  checkNetworks(config.provisioning);
  checkNetworks6(config.provisioning);
  checkUrl('central.url', config.central.url);
  checkUrl('bmc.mediaUrl', config.bmc.mediaUrl);
  checkListen('machine.listen', config.machine.listen);
  checkListen('admin.listen', config.admin.listen);
  checkListen('syslog.listen', config.syslog.listen);
  checkListen('bmc.events.listen', config.bmc.events.listen);
  if (config.bmc.events.url !== undefined && config.bmc.events.listen === undefined)
    refuse('bmc.events.url', 'says how BMCs reach bmc.events.listen: set that too');
  checkDoors(config);
  checkSyslog(config);
}

function checkUrl(path: string, url: string | undefined): void {
  if (url === undefined || (URL.canParse(url) && new URL(url).username === '')) return;
  refuse(path, 'must be a URL such as https://centre.example.com:8443');
}

function checkListen(path: string, listen: string | undefined): void {
  if (listen === undefined) return;
  const { host, port } = listenPlace(listen);
  if (isIP(host) === 0) refuse(path, 'must be an IP address and a port');
  if (port < 1 || port > 65_535) refuse(path, 'the port must be 1 to 65535');
}

/** No two listeners have one place. */
function checkDoors({ provisioning, boot, machine, admin, bmc }: SiteConfig): void {
  if (boot.tftpPort === boot.dhcpPort) refuse('boot.tftpPort', 'must be another than boot.dhcpPort');
  if (boot.offerHttps && boot.httpsPort === undefined)
    refuse('boot.httpsPort', 'must be set where boot.offerHttps is true');
  const doors = [
    ...[...ownNetworks({ provisioning, machine }), ...ownNetworks6({ provisioning, machine })].flatMap(
      ({ address }) => [
        { path: 'boot.httpPort', host: address, port: boot.httpPort },
        ...(boot.httpsPort === undefined
          ? []
          : [{ path: 'boot.httpsPort', host: address, port: boot.httpsPort }]),
      ],
    ),
    ...machineListens({ provisioning, machine }).map((listen) => ({
      path: 'machine.listen',
      ...listenPlace(listen),
    })),
    { path: 'admin.listen', ...listenPlace(admin.listen) },
    ...(bmc.events.listen === undefined
      ? []
      : [{ path: 'bmc.events.listen', ...listenPlace(bmc.events.listen) }]),
  ];
  for (const [at, door] of doors.entries()) {
    const other = doors.slice(0, at).find((earlier) => overlap(earlier, door));
    if (other !== undefined) refuse(door.path, `must be another place than ${other.path}`);
  }
}

/** Ports of UDP that a site has beside those that it is told: DHCPv6 and PXE. */
const fixedPorts: readonly number[] = [547, 4011];

function checkSyslog({ syslog, boot }: SiteConfig): void {
  if (syslog.listen === undefined) return;
  const { port } = listenPlace(syslog.listen);
  if ([...fixedPorts, boot.dhcpPort, boot.tftpPort].includes(port))
    refuse('syslog.listen', `port ${port} is that of another service of the site`);
}

function overlap(one: Place, other: Place): boolean {
  const everywhere = ['0.0.0.0', '::'];
  const sameHost =
    one.host === other.host || everywhere.includes(one.host) || everywhere.includes(other.host);
  return sameHost && one.port === other.port;
}
