import path from 'node:path';
import { exists } from '#base/exists.ts';
import { type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';
import { unpackedPackage } from './foreign.ts';

/** The folder of Debian's systemd, whose systemd-networkd runs without systemd and D-Bus. */
export function fetchNetworkd(): Promise<string> {
  return unpackedPackage('systemd');
}

/**
 * systemd-networkd as DHCP client of one interface. It wants its run-time folders, and takes an interface without udev only where
 * `/sys` is read-only: both in a mount namespace of its own. It gives its lease back when it is stopped.
 */
export async function startNetworkd(
  folder: string,
  { namespace, interfaceName, logFile }: { namespace: string; interfaceName: string; logFile: string },
): Promise<ManagedProcess> {
  const program = await firstOf(
    ['usr/lib', 'lib'].map((place) => path.join(folder, place, 'systemd/systemd-networkd')),
  );
  const libraries = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].flatMap((triplet) => [
    path.join(folder, 'usr/lib', triplet, 'systemd'),
    path.join(folder, 'usr/lib', triplet),
  ]);
  const settings = `[Match]\nName=${interfaceName}\n[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\n`;
  const script = [
    'mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && mount -t sysfs -o ro sysfs /sys',
    'cd /run/systemd && mkdir -p network netif/links netif/leases netif/lldp && chmod -R a+rwX .',
    'printf %s "$1" > network/client.network',
    'exec env SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console "LD_LIBRARY_PATH=$2" "$3"',
  ].join(' && ');
  const inside = ['sh', '-c', script, 'sh', settings, libraries.join(':'), program];
  return startProcess({
    namespace,
    command: ['unshare', '--mount', '--propagation', 'private', ...inside],
    logFile,
  });
}

async function firstOf(candidates: string[]): Promise<string> {
  for (const candidate of candidates) if (await exists(candidate)) return candidate;
  throw new Error(`none of ${candidates.join(', ')} is there`);
}
