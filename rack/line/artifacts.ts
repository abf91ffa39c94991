import path from 'node:path';
import { buildExecutable } from '#agent/executable/build.ts';
import type { MachineArchitecture } from '#base/architecture.ts';
import { ensureIpxe } from '#bootserver/ipxePackage.ts';
import { ensureShim } from '#bootserver/shimPackage.ts';
import { ramdiskImage } from '#cli/ramdisk.ts';
import type { Ramdisk } from '#ramdisk/image/build.ts';
import { buildOs, type OsImage, type OsOptions } from '../os/build.ts';
import { currentNicRom } from './nicRom.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache');

export type Progress = (line: string) => void;

export type OsVariant = Omit<OsOptions, 'cacheDirectory' | 'progress'>;

/** What a line needs that takes minutes to make and is made once: everything comes from the cache the second time. */
export interface Artifacts {
  ipxeDirectory: string;
  /** shim and GRUB. */
  shimDirectory: string;
  /** The daemon as one file. */
  bcd: string;
  /** What a BIOS machine's NIC boots from. */
  nicRom: string;
  os: OsImage;
}

export async function prepareArtifacts(
  variant: OsVariant,
  architectures: readonly MachineArchitecture[],
  progress: Progress,
  signal: AbortSignal,
): Promise<Artifacts> {
  const ipxeDirectory = path.join(cacheDirectory, 'ipxe');
  await ensureIpxe({
    directory: ipxeDirectory,
    cacheDirectory: path.join(cacheDirectory, 'debian'),
    progress,
  });
  const shimDirectory = await currentShim(progress);
  signal.throwIfAborted();
  const nicRom = await currentNicRom(cacheDirectory, progress);
  const { file: bcd } = await buildExecutable({ cacheDirectory, progress });
  signal.throwIfAborted();
  for (const architecture of architectures) {
    await ramdiskImage({ architecture, progress });
    signal.throwIfAborted();
  }
  const os = await buildOs({ ...variant, cacheDirectory, progress });
  return { ipxeDirectory, shimDirectory, bcd, nicRom, os };
}

async function currentShim(progress: Progress): Promise<string> {
  const directory = path.join(cacheDirectory, 'shim');
  const debian = path.join(cacheDirectory, 'debian');
  await ensureShim({ directory, cacheDirectory: debian, architectures: ['amd64'], progress });
  return directory;
}

/** The ramdisk for the machines of one centre: seconds, since only the trust anchors are new in it. */
export function ramdiskFor(
  trust: object,
  architecture: MachineArchitecture,
  progress: Progress,
): Promise<Ramdisk> {
  return ramdiskImage({ trust, architecture, progress });
}
