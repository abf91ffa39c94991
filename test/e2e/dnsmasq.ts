import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import type { Closable } from '#base/shutdown.ts';
import { startProcess } from '#rack/line/managedProcess.ts';
import { runIn } from '#rack/netns.ts';
import { provisioningBridge } from '#rack/network.ts';
import type { Rack } from '#rack/rack.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache/debian');

export interface DnsmasqOptions {
  namespace: string;
  interfaceName: string;
  /** For its configuration, leases and log. */
  directory: string;
  /** Lines of its configuration beside those that every DHCP server needs. */
  lines?: readonly string[];
}

/** The pool of the foreign server; the site's own ends below it. */
export const dnsmasqPool = { first: '10.77.0.210', last: '10.77.0.240' };

/** Another DHCP server on the site's network: dnsmasq of Debian 13, which logs what it answers in `dnsmasq.log`. */
export async function startDnsmasq(options: DnsmasqOptions): Promise<Closable> {
  const { namespace, interfaceName, directory, lines = [] } = options;
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, 'dnsmasq.conf');
  const { first, last } = dnsmasqPool;
  const configuration = [
    ...['port=0', 'user=root', 'keep-in-foreground', 'log-dhcp', 'log-facility=-', 'no-ping'],
    ...[`interface=${interfaceName}`, 'bind-interfaces', 'dhcp-authoritative'],
    `dhcp-range=${first},${last},255.255.255.0,10m`,
    'dhcp-option=option:router,10.77.0.1',
    `dhcp-leasefile=${path.join(directory, 'leases')}`,
    `pid-file=${path.join(directory, 'pid')}`,
    ...lines,
  ];
  await writeFile(file, `${configuration.join('\n')}\n`);
  const { command } = await openToolbox(['dnsmasq-base'], { cacheDirectory });
  const [program, args] = command('usr/sbin/dnsmasq', [`--conf-file=${file}`]);
  const server = startProcess({
    namespace,
    command: [program, ...args],
    logFile: path.join(directory, 'dnsmasq.log'),
  });
  return { close: () => server.stop() };
}

/** dnsmasq in a network namespace of its own, with a veth to the site's bridge. */
export async function dnsmasqBeside(
  rack: Rack,
  directory: string,
  lines: readonly string[] = [],
): Promise<Closable> {
  const { site } = rack.namespaces;
  const namespace = `${site}-dhcp`;
  await run('ip', ['netns', 'add', namespace]);
  const remove = () => run('ip', ['netns', 'delete', namespace]);
  try {
    await runIn(site, [
      'ip',
      'link',
      'add',
      'lan-dhcp',
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      namespace,
    ]);
    await runIn(site, ['ip', 'link', 'set', 'lan-dhcp', 'master', provisioningBridge, 'up']);
    await runIn(namespace, ['ip', 'address', 'add', '10.77.0.2/24', 'dev', 'eth0']);
    for (const link of ['lo', 'eth0']) await runIn(namespace, ['ip', 'link', 'set', link, 'up']);
    const server = await startDnsmasq({ namespace, interfaceName: 'eth0', directory, lines });
    return {
      close: async () => {
        await server.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
