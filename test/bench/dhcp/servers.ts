import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';
import { type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';
import { startLoneSite } from '../../fakes/loneSite.ts';
import type { Wire } from '../wire.ts';

/** Starts a DHCP server on the wire, with its files in `directory`. */
export type StartServer = (wire: Wire, directory: string) => Promise<ManagedProcess>;

/** The same for all: more addresses than there are clients. */
export const pool = { first: '10.65.0.1', last: '10.66.255.254' } as const;
export const prefixLength = 12;

const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache/debian');

/** Ours and its peers by the names of the figures, each with its leases on disk. Fetched from a network that reaches the archive. */
export async function fetchServers(): Promise<Record<'ours' | 'kea' | 'dnsmasq', StartServer>> {
  const kea = await openToolbox(['kea-dhcp4-server'], { cacheDirectory });
  const dnsmasq = await openToolbox(['dnsmasq-base'], { cacheDirectory });
  return {
    ours: startOurs,
    kea: async ({ server }, directory) => {
      const file = path.join(directory, 'kea.json');
      await writeFile(file, JSON.stringify(keaConfiguration(server.interfaceName, directory)));
      const command = flat(kea.command('usr/sbin/kea-dhcp4', ['-c', file]));
      const places = ['KEA_PIDFILE_DIR', 'KEA_LOCKFILE_DIR', 'KEA_DHCP_DATA_DIR', 'KEA_LOG_FILE_DIR'];
      const environment = places.map((name) => `${name}=${directory}`);
      return start(server.namespace, ['env', ...environment, ...command], directory);
    },
    dnsmasq: async ({ server }, directory) => {
      const command = flat(
        dnsmasq.command('usr/sbin/dnsmasq', dnsmasqArguments(server.interfaceName, directory)),
      );
      return start(server.namespace, command, directory);
    },
  };
}

const startOurs: StartServer = ({ server }, directory) =>
  startLoneSite({
    namespace: server.namespace,
    directory,
    provisioning: {
      interface: server.interfaceName,
      address: server.address,
      prefixLength,
      poolStart: pool.first,
      poolEnd: pool.last,
    },
    ...(process.env.RAILHEAD_BENCH_PROFILE !== undefined && {
      nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${process.env.RAILHEAD_BENCH_PROFILE}`],
    }),
  });

/** Leases in a file that every change is added to, and one thread, as its default is for this store. */
function keaConfiguration(interfaceName: string, directory: string): object {
  return {
    Dhcp4: {
      'interfaces-config': { interfaces: [interfaceName] },
      'lease-database': {
        type: 'memfile',
        persist: true,
        name: path.join(directory, 'leases.csv'),
        'lfc-interval': 0,
      },
      'multi-threading': { 'enable-multi-threading': false },
      'valid-lifetime': 3600,
      subnet4: [
        { id: 1, subnet: `10.64.0.0/${prefixLength}`, pools: [{ pool: `${pool.first} - ${pool.last}` }] },
      ],
      loggers: [{ name: 'kea-dhcp4', severity: 'ERROR', output_options: [{ output: 'stdout' }] }],
    },
  };
}

function dnsmasqArguments(interfaceName: string, directory: string): string[] {
  return [
    ...['--no-daemon', '--conf-file=/dev/null', '--port=0', '--user=root', '--pid-file=', '--no-ping'],
    ...[`--interface=${interfaceName}`, '--bind-interfaces', '--quiet-dhcp', '--dhcp-lease-max=200000'],
    ...[`--dhcp-range=${pool.first},${pool.last},1h`, `--dhcp-leasefile=${path.join(directory, 'leases')}`],
  ];
}

async function start(namespace: string, command: string[], directory: string): Promise<ManagedProcess> {
  return startProcess({
    namespace,
    command: command as [string, ...string[]],
    logFile: path.join(directory, 'server.log'),
  });
}

function flat([program, args]: [string, string[]]): string[] {
  return [program, ...args];
}
