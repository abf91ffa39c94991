import { scriptWord, setting } from './escape.ts';
import { currentInterface, eachInterface, ifInterface, ofInterface } from './interfaces.ts';
import { asOurs } from './ownRequest.ts';
import { retried } from './retry.ts';
import { scriptUrl } from './scriptUrl.ts';

/** What iPXE on UEFI looks for beside its own binary, by TFTP or HTTP as it came, and runs before any DHCP of its own (1.21 and later). */
export const autoexecName = 'autoexec.ipxe';

/** Elsewhere than on the interface that has its lease from us: it may be the wrong network, and the others wait. */
const triesElsewhere = 3;

/**
 * The first script that every machine runs, as `boot.ipxe` named by DHCP and as `autoexec.ipxe`: then the lease is the firmware's, and
 * nobody else's answer to a second DHCP can lead the machine astray. A machine has several interfaces, and iPXE's `net0` need not be the
 * one that booted. In order:
 *
 * 1. the interface whose lease is from `serverAddress` asks `httpUrl` for the machine's own script, for about two minutes;
 * 2. each that has an address at all asks: beside another DHCP server, the lease is that one's;
 * 3. each asks for an address first.
 *
 * One interface is open at a time, so that it is the one that asks, and it names its MAC. In the end the script fails, so that the
 * firmware goes on to its next boot entry.
 */
export function bootScript(httpUrl: string, serverAddress: string): string {
  const server = scriptWord(serverAddress);
  const url = scriptUrl(httpUrl, { vlan: setting('vlan-tag') });
  return [
    '#!ipxe',
    `echo railhead: site ${server}, iPXE ${setting('version')} ${setting('platform')} ${setting('buildarch')}`,
    `echo railhead: ${setting('manufacturer')} ${setting('product')}`,
    `echo railhead: serial ${setting('serial')}, UUID ${setting('uuid')}`,
    ...eachInterface('own', [ifInterface('dhcp-server', server, 'found')]),
    'goto elsewhere',
    ':found',
    ...asking(url, 'chain', 'own-failed'),
    ':own-failed',
    `ifclose ${currentInterface} ||`,
    ':elsewhere',
    ...eachInterface('any', [
      `isset ${ofInterface('ip')} || goto any-next`,
      ifInterface('dhcp-server', server, 'any-next'),
      ...asking(url, 'chain-any', 'any-failed', triesElsewhere),
      ':any-failed',
      `ifclose ${currentInterface} ||`,
    ]),
    ...eachInterface('lease', [
      `isset ${ofInterface('mac')} || goto lease-next`,
      `echo railhead: ${currentInterface} ${ofInterface('mac')} asks for an address`,
      ...asOurs([`dhcp ${currentInterface} && set leased:int32 1 || set leased:int32 0`]),
      `iseq ${setting('leased')} 1 || goto lease-failed`,
      ...asking(url, 'chain-lease', 'lease-failed', triesElsewhere),
      ':lease-failed',
      `ifclose ${currentInterface} ||`,
    ]),
    'echo railhead: no script, the firmware goes on',
    'exit 1',
    '',
  ].join('\n');
}

/** Lines that ask for the machine's script by the interface at hand, and do not come back when it is there. */
function asking(url: string, label: string, failed: string, tries?: number): string[] {
  return [
    `ifopen ${currentInterface} ||`,
    `set boot-mac ${ofInterface('mac')}`,
    `set boot-ip ${ofInterface('ip')}`,
    `echo railhead: ${currentInterface} ${setting('boot-mac')} at ${setting('boot-ip')} asks for its script`,
    ...retried(`chain --replace --autofree ${url}`, label, failed, tries),
  ];
}
