import { siteDiscovery } from '#contract/siteDiscovery.ts';
import { scriptWord, setting } from './escape.ts';
import { eachInterface, ifInterface } from './interfaces.ts';
import { asOurs } from './ownRequest.ts';
import { retried } from './retry.ts';

export interface VlanScript {
  /** `http://<address>:<port>` of the boot listener. */
  httpUrl: string;
  /** The interface that asked. */
  mac: string;
  vlan: number;
  /** Name of the iPXE to load where the one that runs knows no VLANs; absent when it came from us, so that none is loaded twice. */
  newerIpxe?: string;
}

/** Some firmware drivers have room for an untagged frame alone: with its tag a full one is lost (seen: OVMF's virtio driver). */
const mtu = 1496;

/**
 * Moves a machine to a tagged VLAN, and starts again there with the first script. The trunk loses its address: of two interfaces
 * with a router iPXE would use the first one's for both. The DHCP server of the VLAN names the first script by the site's address there if it is the site's; behind another
 * one the site is reached by routing.
 * @throws RangeError when an argument could not stand in a script
 */
export function vlanScript({ httpUrl, mac, vlan, newerIpxe }: VlanScript): string {
  const trunk = `net${setting('idx')}`;
  const settingOf = (name: string) => setting(`${trunk}-${vlan}/${name}`);
  const chain = 'chain --replace --autofree';
  return [
    '#!ipxe',
    `echo railhead: this machine boots on VLAN ${vlan}`,
    ...eachInterface('trunk', [ifInterface('mac', scriptWord(mac), 'found')]),
    `echo railhead: no interface has the address ${mac}`,
    'goto failed',
    ':found',
    `vcreate --tag ${vlan} ${trunk} || goto lacking`,
    `set ${trunk}-${vlan}/mtu ${mtu} ||`,
    `clear ${trunk}.dhcp/ip ||`,
    ...asOurs(retried(`dhcp ${trunk}-${vlan}`, 'dhcp', 'failed')),
    `set vlan-tag:int32 ${vlan}`,
    `set vlan-suffix:string -${vlan}`,
    `isset ${settingOf(`${siteDiscovery.optionNumber}:string`)} && ${chain} ${settingOf('filename')} ||`,
    ...retried(`${chain} ${scriptWord(httpUrl)}/boot.ipxe`, 'chain', 'failed'),
    ':lacking',
    `echo railhead: iPXE ${setting('version')} knows no VLANs`,
    ...(newerIpxe === undefined
      ? []
      : [
          'echo railhead: loading a newer one',
          `chain --autofree ${httpUrl}/ipxe/${scriptWord(newerIpxe)} ||`,
        ]),
    ':failed',
    'clear user-class ||',
    `echo railhead: nothing boots on VLAN ${vlan}, the firmware goes on`,
    'exit 1',
    '',
  ].join('\n');
}
