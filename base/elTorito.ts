import { type IsoFile, isoImage, placeFiles, volumeDescriptor } from './iso9660.ts';

export interface BootableIso {
  label: string;
  /** A FAT file system with `\EFI\BOOT\BOOTX64.EFI` in it. */
  uefi: Buffer;
  /** `isolinux.bin`, and the files that it reads; without them UEFI alone boots it. */
  bios?: { loader: Buffer; files: readonly IsoFile[] } | undefined;
}

const names = { uefi: 'UEFI.IMG', bios: 'ISOLINUX.BIN' };

/** An ISO image that BIOS and UEFI boot: each has its entry in the El Torito boot catalog (version 1.0). */
export function elToritoIso({ label, uefi, bios }: BootableIso): Buffer {
  if (bios === undefined)
    return isoImage({ label, files: [{ name: names.uefi, data: uefi }], catalog: uefiCatalog });
  const files = [{ name: names.bios, data: bios.loader }, { name: names.uefi, data: uefi }, ...bios.files];
  const [loader] = placeFiles(files);
  const data = withBootInfo(bios.loader, loader?.sector ?? 0);
  return isoImage({ label, files: files.with(0, { name: names.bios, data }), catalog });
}

/** El Torito sections 2.1 to 2.4: BIOS in the first entry, as all BIOSes read it, UEFI (0xEF, UEFI 2.10 §13.3.2.1) in a section after it. */
function catalog(sectorOf: (name: string) => number): Buffer {
  const entries = Buffer.alloc(128);
  entries.writeUInt8(1, 0);
  entries.writeUInt16LE(0xaa55, 30);
  entries.writeUInt16LE(checksum(entries.subarray(0, 32)), 28);
  bootEntry(sectorOf(names.bios), 4).copy(entries, 32);
  entries.writeUInt8(0x91, 64);
  entries.writeUInt8(0xef, 65);
  entries.writeUInt16LE(1, 66);
  // A sector count of 0 or 1 reaches to the end of the volume: the field could not hold what a kernel takes.
  bootEntry(sectorOf(names.uefi), 0).copy(entries, 96);
  return entries;
}

/** One entry, of the platform UEFI. */
function uefiCatalog(sectorOf: (name: string) => number): Buffer {
  const entries = Buffer.alloc(64);
  entries.writeUInt8(1, 0);
  entries.writeUInt8(0xef, 1);
  entries.writeUInt16LE(0xaa55, 30);
  entries.writeUInt16LE(checksum(entries.subarray(0, 32)), 28);
  bootEntry(sectorOf(names.uefi), 0).copy(entries, 32);
  return entries;
}

/** Bootable, without emulation of a floppy; `count` is in sectors of 512 bytes. */
function bootEntry(sector: number, count: number): Buffer {
  const entry = Buffer.alloc(32);
  entry.writeUInt8(0x88, 0);
  entry.writeUInt16LE(count, 6);
  entry.writeUInt32LE(sector, 8);
  return entry;
}

/** What isolinux wants to be told of itself (mkisofs(8), `-boot-info-table`): where it is, how long, and the sum of it after byte 64. */
function withBootInfo(loader: Buffer, sector: number): Buffer {
  const patched = Buffer.alloc(Math.ceil(loader.length / 4) * 4);
  loader.copy(patched);
  let sum = 0;
  for (let at = 64; at < patched.length; at += 4) sum = (sum + patched.readUInt32LE(at)) >>> 0;
  for (const [index, value] of [volumeDescriptor, sector, loader.length, sum].entries())
    patched.writeUInt32LE(value, 8 + 4 * index);
  return patched;
}

/** What makes the sum of the words zero. */
function checksum(entry: Buffer): number {
  const words = Array.from({ length: entry.length / 2 }, (_, at) => entry.readUInt16LE(2 * at));
  return (0x10000 - (words.reduce((sum, word) => sum + word, 0) % 0x10000)) % 0x10000;
}
