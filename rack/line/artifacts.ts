import path from 'node:path';
import { buildExecutable } from '#agent/executable/build.ts';
import { ensureIpxe } from '#bootserver/ipxePackage.ts';
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
  /** The daemon as one file. */
  bcd: string;
  /** What a BIOS machine's NIC boots from. */
  nicRom: string;
  os: OsImage;
}

export async function prepareArtifacts(
  variant: OsVariant,
  progress: Progress,
  signal: AbortSignal,
): Promise<Artifacts> {
  const ipxeDirectory = path.join(cacheDirectory, 'ipxe');
  await ensureIpxe({
    directory: ipxeDirectory,
    cacheDirectory: path.join(cacheDirectory, 'debian'),
    progress,
  });
  signal.throwIfAborted();
  const nicRom = await currentNicRom(cacheDirectory, progress);
  const { file: bcd } = await buildExecutable({ cacheDirectory, progress });
  signal.throwIfAborted();
  await ramdiskImage({ progress });
  signal.throwIfAborted();
  const os = await buildOs({ ...variant, cacheDirectory, progress });
  return { ipxeDirectory, bcd, nicRom, os };
}

/** The ramdisk for the machines of one centre: seconds, since only the trust anchors are new in it. */
export function ramdiskFor(trust: object, progress: Progress): Promise<Ramdisk> {
  return ramdiskImage({ trust, progress });
}
