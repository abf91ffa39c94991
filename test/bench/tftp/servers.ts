import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';
import { fromSource } from '#rack/line/managedProcess.ts';
import type { Wire } from '../wire.ts';

/** How a TFTP server is started that serves the folder of `file` on the wire. */
export type ServerCommand = (wire: Wire, file: string) => [program: string, ...args: string[]];

const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache/debian');

/** Ours and its peers, by the names of the figures. Debian's packages are fetched here, from a network that reaches them. */
export async function fetchServers(): Promise<Record<'ours' | 'tftpd-hpa' | 'dnsmasq', ServerCommand>> {
  const hpa = await openToolbox(['tftpd-hpa'], { cacheDirectory });
  const dnsmasq = await openToolbox(['dnsmasq-base'], { cacheDirectory });
  return {
    ours: ({ server }, file) =>
      fromSource('test/bench/tftp/serverProcess.ts', [server.address, server.interfaceName, file]),
    'tftpd-hpa': ({ server }, file) =>
      flat(
        hpa.command('usr/sbin/in.tftpd', [
          ...['--foreground', '--address', `${server.address}:69`, '--user', 'root', '--secure'],
          path.dirname(file),
        ]),
      ),
    dnsmasq: ({ server }, file) =>
      flat(
        dnsmasq.command('usr/sbin/dnsmasq', [
          ...['--no-daemon', '--conf-file=/dev/null', '--port=0', '--user=root', '--pid-file='],
          ...[`--interface=${server.interfaceName}`, '--bind-interfaces', '--enable-tftp'],
          ...[`--tftp-root=${path.dirname(file)}`, '--tftp-max=1000'],
        ]),
      ),
  };
}

function flat([program, args]: [string, string[]]): [string, ...string[]] {
  return [program, ...args];
}
