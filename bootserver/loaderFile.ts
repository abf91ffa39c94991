import { shimFile } from '#grub/debianPackages.ts';
import { type ArchitectureRow, bootFile } from '#ipxe/bootFiles.ts';
import { wholeImagePath } from './http/wholeImage.ts';
import type { LoaderChoice } from './machine.ts';

/**
 * The file that UEFI firmware loads by TFTP, over IPv4 and IPv6 alike; undefined where there is none for it. A whole ramdisk image is for
 * HTTP boot: who chose that and boots by PXE gets iPXE.
 */
export function tftpLoader(architecture: ArchitectureRow, choice?: LoaderChoice): string | undefined {
  const shim = choice?.kind === 'shim' ? shimFile(architecture.machine) : undefined;
  return shim ?? bootFile({ ...architecture, transport: 'tftp' });
}

/** The path at the boot listener of what firmware loads by HTTP boot, likewise. */
export function httpLoader(architecture: ArchitectureRow, choice?: LoaderChoice): string | undefined {
  const { machine } = architecture;
  if (choice?.kind === 'uki') {
    const digest = machine === 'x86_64' || machine === 'aarch64' ? choice.digests[machine] : undefined;
    return digest && wholeImagePath(digest);
  }
  const shim = choice?.kind === 'shim' ? shimFile(machine) : undefined;
  if (shim !== undefined) return `/shim/${shim}`;
  const file = bootFile({ ...architecture, transport: 'http' });
  return file && `/ipxe/${file}`;
}
