/** Debian's package of iPXE: trixie's, since bookworm's is from 2019 and lacks HTTPS. All architectures are in it. */
export const ipxePackage = {
  name: 'ipxe',
  suite: 'trixie',
  /** Where its binaries are in the package. */
  folder: 'usr/lib/ipxe',
  /** Those that the boot-file table names. */
  files: ['ipxe-amd64.efi', 'ipxe-arm64.efi', 'snponly.efi', 'undionly.kpxe'],
} as const;

/** What a package held: `ipxe/known.json` says which one was tried, a folder's `manifest.json` which one is there. */
export interface IpxeManifest {
  version: string;
  /** sha256 of each file, lower-case hex. */
  files: Record<string, string>;
}

/** Files whose bytes are not those that were tried; the version differs with them, or somebody changed a file. */
export function untriedFiles(found: IpxeManifest, tried: IpxeManifest): string[] {
  return Object.keys(found.files).filter((name) => found.files[name] !== tried.files[name]);
}
