import { diskLines } from './diskLines.ts';
import { overHttp, quoted, variable } from './escape.ts';
import { retried } from './retry.ts';

/**
 * The configuration that GRUB of every machine reads first: it asks `httpUrl` for the machine's own menu, by the MAC that got the lease
 * and the product UUID. Gives up after about two minutes and boots the local disk: a site that is down must not keep its machines from it.
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
    '  echo "railhead: no menu, booting the local disk"',
    `  if [ "${variable('grub_cpu')}" = x86_64 ]; then`,
    ...indented(diskLines('x86_64')),
    '  else',
    ...indented(diskLines('aarch64')),
    '  fi',
    'fi',
    '',
  ].join('\n');
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}
