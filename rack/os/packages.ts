import { createHash } from 'node:crypto';
import path from 'node:path';
import { unpackOnce } from '#base/debian/unpackOnce.ts';
import { type DebianPackage, download, realPackage } from '#base/debian.ts';
import type { OsKind } from './disk.ts';

/** What the image is made of, all from one Debian suite. The libraries are those that wget needs; `libraries.ts` checks them. */
const names = [
  'busybox-static',
  'syslinux',
  'extlinux',
  'syslinux-common',
  'systemd-boot-efi',
  'wget',
  'libc6',
  'libffi8',
  'libgmp10',
  'libgnutls30t64',
  'libhogweed6t64',
  'libidn2-0',
  'libnettle8t64',
  'libp11-kit0',
  'libpcre2-8-0',
  'libpsl5t64',
  'libtasn1-6',
  'libunistring5',
  'libuuid1',
  'zlib1g',
];

/** What the first boot of an OS that is to run `bcd` needs: to download it, and the libraries of its Node. */
const hostNames = ['curl', 'libstdc++6', 'libatomic1'];

export interface OsPackages {
  packages: DebianPackage[];
  /** `6.12.…-amd64`. */
  kernelRelease: string;
}

/** Fetches the packages (or finds them in the cache). */
export async function osPackages(
  cacheDirectory: string,
  kind: OsKind,
  progress?: (line: string) => void,
): Promise<OsPackages> {
  const options = {
    cacheDirectory: path.join(cacheDirectory, 'debian'),
    ...(progress === undefined ? {} : { progress }),
  };
  const kernel = await realPackage('linux-image-amd64', /^linux-image-\d.*-amd64$/, options);
  const plain = await download({ ...options, packages: [...names, kernel] });
  const more =
    kind === 'host' ? await download({ ...options, packages: hostNames, withDependencies: true }) : [];
  const packages = [...new Map([...plain, ...more].map((one) => [one.name, one])).values()];
  return { packages, kernelRelease: kernel.replace('linux-image-', '') };
}

/** One folder with the files of all packages, kept in the cache: several images are made from it. */
export function unpacked(packages: readonly DebianPackage[], cacheDirectory: string): Promise<string> {
  const key = createHash('sha256')
    .update(packages.map((one) => one.sha256).join('\n'))
    .digest('hex');
  return unpackOnce(packages, path.join(cacheDirectory, 'os', `packages-${key.slice(0, 16)}`));
}
