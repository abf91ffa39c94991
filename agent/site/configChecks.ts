import { isIP, isIPv4 } from 'node:net';
import { durationMs } from '#contract/durations.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteConfig } from './configSchema/index.ts';

/** What a schema cannot say of a configuration. @throws RailheadError INVALID_CONFIG whose details name the `path` and what was `expected` */
export function checkConfig(config: SiteConfig): void {
  checkNetwork(config.provisioning);
  checkUrl('central.url', config.central.url);
  checkListen('machine.listen', config.machine.listen);
  checkListen('admin.listen', config.admin.listen);
  checkDoors(config);
}

type Network = SiteConfig['provisioning'];

/** Addresses lie in the network, the pool is in order, the site is not in its own pool. */
function checkNetwork(network: Network): void {
  const own = hostNumber('address', network.address, network);
  const first = hostNumber('poolStart', network.poolStart, network);
  const last = hostNumber('poolEnd', network.poolEnd, network);
  if (network.router !== undefined) hostNumber('router', network.router, network);
  network.dns.forEach((address, at) => {
    if (!isIPv4(address)) refuse(`provisioning.dns.${at}`, 'must be an IPv4 address');
  });
  if (last < first) refuse('provisioning.poolEnd', 'must not be below provisioning.poolStart');
  if (own >= first && own <= last)
    refuse('provisioning.poolStart', `the pool must not hold the site's own address ${network.address}`);
  checkLease(network.leaseTime);
}

/** A lease time travels as 32 bits of seconds, of which the highest value means for ever (RFC 2131 §3.3). */
function checkLease(leaseTime: string): void {
  const milliseconds = durationMs(leaseTime);
  if (milliseconds < 60_000 || milliseconds > 8760 * 3_600_000)
    refuse('provisioning.leaseTime', 'must be 1m to 8760h');
}

/** The number of an address that a host of the network can have: neither the network's own nor its broadcast address. */
function hostNumber(name: string, text: string, { address, prefixLength }: Network): number {
  const path = `provisioning.${name}`;
  if (!isIPv4(text)) refuse(path, 'must be an IPv4 address');
  const hosts = 2 ** (32 - prefixLength);
  const [number, own] = [addressNumber(text), addressNumber(address)];
  if (Math.floor(number / hosts) !== Math.floor(own / hosts))
    refuse(path, `must be in the network of ${address}/${prefixLength}`);
  const host = number % hosts;
  if (host === 0 || host === hosts - 1)
    refuse(path, `must not be the first or last address of ${address}/${prefixLength}`);
  return number;
}

function addressNumber(text: string): number {
  return text.split('.').reduce((number, byte) => number * 256 + Number(byte), 0);
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
  const doors = [
    { path: 'boot.httpPort', host: provisioning.address, port: boot.httpPort },
    { path: 'machine.listen', ...place(machine.listen ?? `${provisioning.address}:8443`) },
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

function refuse(path: string, expected: string): never {
  throw new RailheadError('INVALID_CONFIG', `${path}: ${expected}`, { path, expected });
}
