import { overHttp, quoted, variable } from './escape.ts';
import { retried } from './retry.ts';

/**
 * The configuration that GRUB of every machine reads first: it asks `httpUrl` for the machine's own menu, by the MAC that got the lease
 * and the product UUID. Gives up after about two minutes, and the firmware goes on.
 */
export function firstConfig(httpUrl: string): string {
  const menu = quoted(overHttp(httpUrl, '/grub/menu/'));
  return [
    'smbios --type 1 --get-uuid 8 --set machine_uuid',
    `echo "railhead: ${variable('net_default_mac')} at ${variable('net_default_ip')} asks for its menu"`,
    ...retried(
      [`source ${menu}"${variable('net_default_mac')}/${variable('grub_cpu')}/${variable('machine_uuid')}"`],
      // The machine's own configuration sets it.
      'railhead_menu',
    ),
    `if [ -z "${variable('railhead_menu')}" ]; then`,
    '  echo "railhead: no menu, the firmware goes on"',
    '  exit 1',
    'fi',
    '',
  ].join('\n');
}
