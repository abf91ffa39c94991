import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import type { SiteConfig } from './config.ts';

/** A unit file: its name and its text. */
export interface Unit {
  name: string;
  text: string;
}

/**
 * The systemd sockets of a site, so that the agent needs no privilege for its ports. The interface is written out: systemd 252
 * ignores `BindToDevice=%i` without a word, and a DHCP server that answers on every interface is a hazard. TFTP is bound to
 * the address, so that a reply leaves from the address that was asked.
 */
export function socketUnits({ provisioning, boot }: Pick<SiteConfig, 'provisioning' | 'boot'>): Unit[] {
  const { interface: device, address } = provisioning;
  return [
    unit('dhcp', `DHCP on ${device}`, [
      `ListenDatagram=0.0.0.0:${boot.dhcpPort}`,
      `BindToDevice=${device}`,
      'Broadcast=yes',
    ]),
    unit('tftp', `TFTP on ${address}`, [`ListenDatagram=${address}:${boot.tftpPort}`, 'FreeBind=yes']),
  ];
}

export async function writeUnits(directory: string, units: readonly Unit[]): Promise<void> {
  for (const { name, text } of units) await writeDurably(path.join(directory, name), text);
}

function unit(service: string, description: string, lines: string[]): Unit {
  const text = [
    '# Written by `bcd site sockets` from config.toml.',
    '[Unit]',
    `Description=Railhead site agent, ${description}`,
    '',
    '[Socket]',
    ...lines,
    `FileDescriptorName=${service}`,
    'Service=bcd-site.service',
    '',
    '[Install]',
    'WantedBy=sockets.target',
    '',
  ].join('\n');
  return { name: `bcd-${service}.socket`, text };
}
