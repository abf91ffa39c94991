import { isIP } from 'node:net';
import { refuse } from './configRefusal.ts';
import type { SiteConfig } from './configSchema/index.ts';
import { checkNetworks } from './networkChecks.ts';
import { checkNetworks6 } from './networkChecks6.ts';
import { machineListens, ownNetworks } from './networks.ts';
import { ownNetworks6 } from './networks6.ts';

/** What a schema cannot say of a configuration. @throws RailheadError INVALID_CONFIG whose details name the `path` and what was `expected` */
export function checkConfig(config: SiteConfig): void {
  checkNetworks(config.provisioning);
  checkNetworks6(config.provisioning);
  checkUrl('central.url', config.central.url);
  checkListen('machine.listen', config.machine.listen);
  checkListen('admin.listen', config.admin.listen);
  checkDoors(config);
}

function checkUrl(path: string, url: string | undefined): void {
  if (url === undefined || (URL.canParse(url) && new URL(url).username === '')) return;
  refuse(path, 'must be a URL such as https://centre.example.com:8443');
}

function checkListen(path: string, listen: string | undefined): void {
  if (listen === undefined) return;
  const { host, port } = place(listen);
  if (isIP(host) === 0) refuse(path, 'must be an IP address and a port');
  if (port < 1 || port > 65_535) refuse(path, 'the port must be 1 to 65535');
}

/** No two listeners have one place. */
function checkDoors({ provisioning, boot, machine, admin }: SiteConfig): void {
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
      ...place(listen),
    })),
    { path: 'admin.listen', ...place(admin.listen) },
  ];
  for (const [at, door] of doors.entries()) {
    const other = doors.slice(0, at).find((earlier) => overlap(earlier, door));
    if (other !== undefined) refuse(door.path, `must be another place than ${other.path}`);
  }
}

interface Place {
  host: string;
  port: number;
}

function place(listen: string): Place {
  const colon = listen.lastIndexOf(':');
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(listen.slice(colon + 1)) };
}

function overlap(one: Place, other: Place): boolean {
  const everywhere = ['0.0.0.0', '::'];
  const sameHost =
    one.host === other.host || everywhere.includes(one.host) || everywhere.includes(other.host);
  return sameHost && one.port === other.port;
}
