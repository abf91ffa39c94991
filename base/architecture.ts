/** A machine's architecture as its kernel names it (`uname -m`). */
export type MachineArchitecture = 'x86_64' | 'aarch64';

/** What others call it. */
interface Names {
  debian: 'amd64' | 'arm64';
  /** `process.arch`. */
  node: 'x64' | 'arm64';
  /** The folder of its libraries in Debian, and the prefix of the programs that build for it (GNU triplet). */
  triplet: string;
  /** In the names of EFI programs (UEFI specification, 3.5.1.1: removable media boot behaviour). */
  efi: 'x64' | 'aa64';
}

export const architectureNames: Readonly<Record<MachineArchitecture, Names>> = {
  x86_64: { debian: 'amd64', node: 'x64', triplet: 'x86_64-linux-gnu', efi: 'x64' },
  aarch64: { debian: 'arm64', node: 'arm64', triplet: 'aarch64-linux-gnu', efi: 'aa64' },
};

/** The architecture of the machine that this runs on. */
export const hostArchitecture: MachineArchitecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

/** A triplet as it stands in the names of Debian's packages, which have no underscore. */
export function packageName(triplet: string): string {
  return triplet.replaceAll('_', '-');
}
