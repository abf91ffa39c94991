import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import type { EfiLoader } from '#contract/efiLoader.ts';
import { withMounted } from '../seed/mounted.ts';
import type { Partition } from '../seed/partitions.ts';

/** UEFI 2.10 section 3.5.1.1: the file that firmware starts from a disk without an entry, by architecture. */
const fallbackLoaders: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'BOOTX64.EFI',
  arm64: 'BOOTAA64.EFI',
  riscv64: 'BOOTRISCV64.EFI',
};

/** Loaders that distributions install under a name of their own, the one that verifies first. */
const vendorLoader = /^(shim|grub|systemd-boot)(x64|aa64|riscv64)\.efi$/i;

/** A boot loader and the partition that it is on. */
export interface DiskLoader {
  esp: Partition;
  /** `\EFI\BOOT\BOOTX64.EFI` */
  path: string;
}

/** In words why there is none. */
export type MissingLoader = { missing: string };

/** The boot loader that UEFI firmware is to start from a disk with these partitions. */
export async function findDiskLoader(partitions: readonly Partition[]): Promise<DiskLoader | MissingLoader> {
  const esp = partitions.find(({ isEsp, fileSystem }) => isEsp && fileSystem === 'vfat');
  if (esp === undefined) return { missing: 'the image has no EFI system partition' };
  try {
    const loader = await withMounted(esp.path, 'vfat', findLoader);
    return loader === undefined
      ? { missing: 'no boot loader is on the EFI system partition' }
      : { esp, path: loader };
  } catch (error) {
    return { missing: (error as Error).message };
  }
}

/** What the site needs to have the disk found by any firmware: a GUID, which only a GPT has. */
export function efiLoaderOf(loader: DiskLoader | MissingLoader): EfiLoader | undefined {
  if ('missing' in loader || loader.esp.guid === undefined) return undefined;
  return { espGuid: loader.esp.guid, path: loader.path };
}

/**
 * The boot loader on a mounted EFI system partition, as efibootmgr wants it (`\EFI\BOOT\BOOTX64.EFI`): the fallback's place first, since
 * every image that boots without entries has it, then a distribution's own.
 */
export async function findLoader(
  esp: string,
  arch: NodeJS.Architecture = process.arch,
): Promise<string | undefined> {
  const efi = await entryNamed(esp, 'EFI');
  if (efi === undefined) return undefined;
  const boot = await entryNamed(path.join(esp, efi), 'BOOT');
  const fallback = fallbackLoaders[arch];
  if (boot !== undefined && fallback !== undefined) {
    const file = await entryNamed(path.join(esp, efi, boot), fallback);
    if (file !== undefined) return ['', efi, boot, file].join('\\');
  }
  return await findVendorLoader(esp, efi);
}

async function findVendorLoader(esp: string, efi: string): Promise<string | undefined> {
  const found: string[] = [];
  for (const vendor of await namesIn(path.join(esp, efi)))
    for (const file of await namesIn(path.join(esp, efi, vendor)))
      if (vendorLoader.test(file)) found.push(['', efi, vendor, file].join('\\'));
  return found.find((loader) => /shim/i.test(loader)) ?? found[0];
}

/** FAT does not tell upper from lower case; a Linux mount of it may. */
async function entryNamed(directory: string, name: string): Promise<string | undefined> {
  return (await namesIn(directory)).find((entry) => entry.toLowerCase() === name.toLowerCase());
}

async function namesIn(directory: string): Promise<string[]> {
  return ((await readdir(directory).catch(ignore)) ?? []).sort();
}
