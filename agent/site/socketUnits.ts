import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import type { SiteConfig } from './config.ts';
import { ownNetworks } from './networks.ts';
import { type SocketService, socketName } from './socketNames.ts';

/** A unit file: its name and its text. */
export interface Unit {
  name: string;
  text: string;
}

/**
 * The systemd sockets of a site, so that the agent needs no privilege for its ports: for each network one of DHCP and one of TFTP.
 * The interface is written out: systemd 252 ignores `BindToDevice=%i` without a word, and a DHCP server that answers on every
 * interface is a hazard. TFTP is bound to the address, so that a reply leaves from the address that was asked.
 */
export function socketUnits(config: Pick<SiteConfig, 'provisioning' | 'machine' | 'boot'>): Unit[] {
  const { dhcpPort, tftpPort } = config.boot;
  return ownNetworks(config).flatMap(({ mode, interface: device, address }, at) => {
    const named = (service: SocketService) => socketName(service, device, at === 0);
    const dhcp = [`ListenDatagram=0.0.0.0:${dhcpPort}`, `BindToDevice=${device}`, 'Broadcast=yes'];
    const tftp = [`ListenDatagram=${address}:${tftpPort}`, 'FreeBind=yes'];
    return [
      ...(mode === 'off' ? [] : [unit(named('dhcp'), `DHCP on ${device}`, dhcp)]),
      unit(named('tftp'), `TFTP on ${address}`, tftp),
    ];
  });
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
