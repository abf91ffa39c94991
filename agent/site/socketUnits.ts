import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { dhcpPorts } from '#bootserver/dhcp/ports.ts';
import type { SiteConfig } from './config.ts';
import { ownNetworks, relayedNetworks } from './networks.ts';
import { ownNetworks6 } from './networks6.ts';
import { type SocketService, socketName } from './socketNames.ts';

/** Firmware knows no other. */
const pxePort = 4011;

/** A unit file: its name and its text. */
export interface Unit {
  name: string;
  text: string;
}

/**
 * The systemd sockets of a site, so that the agent needs no privilege for its ports: for each network one of TFTP and, by its
 * mode, one of DHCP and one of port 4011; two more where it has IPv6, and one of syslog.
 * The interface is written out: systemd 252 ignores `BindToDevice=%i` without a word, and a DHCP server that answers on every
 * interface is a hazard. TFTP and port 4011 are bound to the address, so that a reply leaves from the one that was asked; of DHCP's two
 * sockets the first hears broadcasts, the second sends.
 */
export function socketUnits(config: Configured): Unit[] {
  return [...units4(config), ...units6(config), ...syslogUnits(config)];
}

type Configured = Pick<SiteConfig, 'provisioning' | 'machine' | 'boot' | 'syslog'>;

function units4(config: Configured): Unit[] {
  const { dhcpPort, tftpPort } = config.boot;
  const relayed = relayedNetworks(config.provisioning).map(({ mode }) => mode);
  return ownNetworks(config).flatMap(({ mode, interface: device, address }, index) => {
    const named = (service: SocketService) => socketName(service, device, index === 0);
    const at = (port: number) => [`ListenDatagram=${address}:${port}`, 'FreeBind=yes'];
    const dhcp = [
      `ListenDatagram=0.0.0.0:${dhcpPort}`,
      ...at(dhcpPort),
      `BindToDevice=${device}`,
      'Broadcast=yes',
      'ReceiveBuffer=4M',
    ];
    const needed = dhcpPorts(mode, relayed);
    return [
      ...(needed.dhcp ? [unit(named('dhcp'), `DHCP on ${device}`, dhcp)] : []),
      ...(needed.pxe ? [unit(named('pxe'), `PXE's port 4011 on ${address}`, at(pxePort))] : []),
      unit(named('tftp'), `TFTP on ${address}`, at(tftpPort)),
    ];
  });
}

/** `IPv6Only`: a socket of both families would take the port of the IPv4 one. */
function units6(config: Configured): Unit[] {
  const { interface: main } = config.provisioning;
  return ownNetworks6(config).flatMap(({ mode, interface: device, address }) => {
    const named = (service: SocketService) => socketName(service, device, device === main);
    const dhcp = ['ListenDatagram=[::]:547', 'BindIPv6Only=ipv6-only', `BindToDevice=${device}`];
    const tftp = [`ListenDatagram=[${address}]:${config.boot.tftpPort}`, 'FreeBind=yes'];
    return [
      ...(mode === 'off' ? [] : [unit(named('dhcp6'), `DHCPv6 on ${device}`, dhcp)]),
      unit(named('tftp6'), `TFTP on ${address}`, tftp),
    ];
  });
}

function syslogUnits({ syslog: { listen } }: Configured): Unit[] {
  if (listen === undefined) return [];
  const lines = [`ListenDatagram=${listen}`, 'BindIPv6Only=ipv6-only', 'FreeBind=yes', 'ReceiveBuffer=1M'];
  return [unit('syslog', `syslog on ${listen}`, lines)];
}

export async function writeUnits(directory: string, units: readonly Unit[]): Promise<void> {
  for (const { name, text } of units) await writeDurably(path.join(directory, name), text);
}

function unit(name: string, description: string, lines: string[]): Unit {
  const text = [
    '# Written by `bcd site sockets` from config.toml.',
    '[Unit]',
    `Description=Railhead site agent, ${description}`,
    '',
    '[Socket]',
    ...lines,
    `FileDescriptorName=${name}`,
    'Service=bcd-site.service',
    '',
    '[Install]',
    'WantedBy=sockets.target',
    'RequiredBy=bcd-site.service',
    '',
  ].join('\n');
  return { name: `bcd-${name}.socket`, text };
}
