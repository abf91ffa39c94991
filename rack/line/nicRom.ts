import path from 'node:path';
import { download, unpack } from '#base/debian.ts';
import { exists } from '#base/exists.ts';
import type { Progress } from './artifacts.ts';

/**
 * Debian 13's iPXE ROM for virtio NICs. The one that Debian 12's QEMU brings is from 2019 and, where nobody announces an
 * IPv6 router, waits 13 seconds after its DHCP lease.
 */
export async function currentNicRom(cacheDirectory: string, progress: Progress): Promise<string> {
  const directory = path.join(cacheDirectory, 'ipxe-qemu');
  const rom = path.join(directory, 'usr/share/qemu/pxe-virtio.rom');
  if (await exists(rom)) return rom;
  const wanted = { cacheDirectory: path.join(cacheDirectory, 'debian'), packages: ['ipxe-qemu'], progress };
  for (const { file } of await download(wanted)) await unpack(file, directory);
  return rom;
}
