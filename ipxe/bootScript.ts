import { scriptWord, setting } from './escape.ts';
import { retried } from './retry.ts';

/** What the script asks for its machine's own script with: query parameter and the iPXE setting that fills it. */
const parameters = {
  mac: setting('boot-mac'),
  uuid: setting('uuid'),
  serial: setting('serial:uristring'),
  platform: setting('platform'),
  buildarch: setting('buildarch'),
  ip: setting('boot-ip'),
} as const;

/** How many interfaces are looked at for the one that got its lease from us. */
const interfaces = 16;

/**
 * The first script that every machine runs: finds the interface whose lease came from `serverAddress` (a machine has
 * several, and iPXE's `net0` need not be it), and asks `httpUrl` for the machine's own script. Gives up after about two
 * minutes with a failure, so that the firmware goes on to its next boot entry.
 */
export function bootScript(httpUrl: string, serverAddress: string): string {
  const query = Object.entries(parameters).map(([name, setting]) => `${name}=${setting}`);
  const url = `${scriptWord(httpUrl)}/ipxe?${query.join('&')}`;
  return [
    '#!ipxe',
    'set idx:int32 0',
    ':look',
    `iseq ${ofInterface('dhcp-server')} ${scriptWord(serverAddress)} && goto found ||`,
    'inc idx',
    `iseq ${setting('idx')} ${interfaces} && goto any || goto look`,
    ':found',
    `set boot-mac ${ofInterface('mac')}`,
    `set boot-ip ${ofInterface('ip')}`,
    'goto ask',
    ':any',
    `set boot-mac ${setting('netX/mac')}`,
    `set boot-ip ${setting('netX/ip')}`,
    ':ask',
    `echo railhead: ${setting('boot-mac')} at ${setting('boot-ip')} asks for its script`,
    ...retried(`chain --replace --autofree ${url}`, 'chain', 'failed'),
    ':failed',
    'echo railhead: no script, the firmware goes on',
    'exit 1',
    '',
  ].join('\n');
}

/** A setting of the interface that `idx` points at. */
function ofInterface(name: string): string {
  return setting(`net${setting('idx')}/${name}`);
}
