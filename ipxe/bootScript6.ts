import { setting } from './escape.ts';
import { retried } from './retry.ts';
import { scriptUrl } from './scriptUrl.ts';

/** How many interfaces are looked at for one that got its lease by DHCPv6. */
const interfaces = 16;

/**
 * The first script of a machine that boots over IPv6: names the MAC of the interface that has a lease by DHCPv6, and asks `httpUrl`, whose
 * host is an address in brackets, for the machine's own script. iPXE does not tell which server gave a lease over IPv6. Gives up after
 * about two minutes with a failure, so that the firmware goes on to its next boot entry.
 */
export function bootScript6(httpUrl: string): string {
  const url = scriptUrl(httpUrl);
  return [
    '#!ipxe',
    'set idx:int32 0',
    ':look',
    `isset ${leased('ip6')} && goto found ||`,
    'inc idx',
    `iseq ${setting('idx')} ${interfaces} && goto any || goto look`,
    ':found',
    `set boot-mac ${setting(`net${setting('idx')}/mac`)}`,
    `set boot-ip ${leased('ip6')}`,
    'goto ask',
    ':any',
    `set boot-mac ${setting('netX/mac')}`,
    `set boot-ip ${setting('netX/ip6')}`,
    ':ask',
    `echo railhead: ${setting('boot-mac')} at ${setting('boot-ip')} asks for its script over IPv6`,
    ...retried(`chain --replace --autofree ${url}`, 'chain', 'failed'),
    ':failed',
    'echo railhead: no script, the firmware goes on',
    'exit 1',
    '',
  ].join('\n');
}

/** What DHCPv6 said to the interface that `idx` points at. */
function leased(name: string): string {
  return setting(`net${setting('idx')}.dhcpv6/${name}`);
}
