/** A file of a Debian package, and the name under which firmware or shim asks for it. */
export interface LoaderFile {
  package: string;
  path: string;
  name: string;
}

/**
 * Debian's shim, signed by Microsoft, and its GRUB for network boot, signed by Debian. Of the suite that the ramdisk's kernel is from: the shim
 * of a distribution starts kernels of that distribution alone. shim looks for GRUB by these names beside itself.
 */
export const shimFiles: Record<'amd64' | 'arm64', readonly LoaderFile[]> = {
  amd64: [
    { package: 'shim-signed', path: 'usr/lib/shim/shimx64.efi.signed', name: 'shimx64.efi' },
    {
      package: 'grub-efi-amd64-signed',
      path: 'usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed',
      name: 'grubx64.efi',
    },
  ],
  arm64: [
    { package: 'shim-signed', path: 'usr/lib/shim/shimaa64.efi.signed', name: 'shimaa64.efi' },
    {
      package: 'grub-efi-arm64-signed',
      path: 'usr/lib/grub/arm64-efi-signed/grubnetaa64.efi.signed',
      name: 'grubaa64.efi',
    },
  ],
};

const shimOf: ReadonlyMap<string, string> = new Map([
  ['x86_64', 'shimx64.efi'],
  ['aarch64', 'shimaa64.efi'],
]);

/** The shim for this kind of machine; undefined where no distribution signs one. */
export function shimFile(machine: string): string | undefined {
  return shimOf.get(machine);
}
