const sectorBytes = 2048;

/** Where things are, in sectors of 2048 bytes (ECMA-119 section 8: the descriptors begin at 16). */
const place = { descriptors: 16, catalog: 19, lPathTable: 20, mPathTable: 21, root: 22, boot: 23 };

const pathTableBytes = 10;

/**
 * An ISO image that UEFI boots: an ISO 9660 file system (ECMA-119) without files, and an El Torito boot catalog (version 1.0) whose
 * one entry is the FAT file system `boot`, with `\EFI\BOOT\BOOTX64.EFI` in it.
 */
export function elToritoIso(boot: Buffer, label: string): Buffer {
  const image = Buffer.alloc(place.boot * sectorBytes + roundUp(boot.length));
  const put = (sector: number, content: Buffer) => content.copy(image, sector * sectorBytes);
  put(place.descriptors, primaryDescriptor(label, image.length / sectorBytes));
  put(place.descriptors + 1, bootRecord());
  put(place.descriptors + 2, descriptor(255));
  put(place.catalog, catalog());
  put(place.lPathTable, pathTable('little'));
  put(place.mPathTable, pathTable('big'));
  put(place.root, Buffer.concat([directoryRecord(0), directoryRecord(1)]));
  put(place.boot, boot);
  return image;
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / sectorBytes) * sectorBytes;
}

function descriptor(type: number): Buffer {
  const sector = Buffer.alloc(sectorBytes);
  sector.writeUInt8(type, 0);
  sector.write('CD001', 1, 'latin1');
  sector.writeUInt8(1, 6);
  return sector;
}

function primaryDescriptor(label: string, sectors: number): Buffer {
  const sector = descriptor(1);
  sector.fill(' ', 8, 72).write(label.slice(0, 32), 40, 'latin1');
  sector.fill(' ', 190, 813);
  bothEndian32(sectors).copy(sector, 80);
  for (const at of [120, 124]) bothEndian16(1).copy(sector, at);
  bothEndian16(sectorBytes).copy(sector, 128);
  bothEndian32(pathTableBytes).copy(sector, 132);
  sector.writeUInt32LE(place.lPathTable, 140);
  sector.writeUInt32BE(place.mPathTable, 148);
  directoryRecord(0).copy(sector, 156);
  sector.writeUInt8(1, 881);
  return sector;
}

/** The root directory as itself (name 0) and as its own parent (name 1). */
function directoryRecord(name: 0 | 1): Buffer {
  const record = Buffer.alloc(34);
  record.writeUInt8(record.length, 0);
  bothEndian32(place.root).copy(record, 2);
  bothEndian32(sectorBytes).copy(record, 10);
  record.writeUInt8(2, 25);
  bothEndian16(1).copy(record, 28);
  record.writeUInt8(1, 32);
  record.writeUInt8(name, 33);
  return record;
}

function pathTable(order: 'little' | 'big'): Buffer {
  const table = Buffer.alloc(pathTableBytes);
  table.writeUInt8(1, 0);
  if (order === 'little') table.writeUInt32LE(place.root, 2);
  else table.writeUInt32BE(place.root, 2);
  if (order === 'little') table.writeUInt16LE(1, 6);
  else table.writeUInt16BE(1, 6);
  return table;
}

function bootRecord(): Buffer {
  const sector = descriptor(0);
  sector.write('EL TORITO SPECIFICATION', 7, 'latin1');
  sector.writeUInt32LE(place.catalog, 71);
  return sector;
}

/** El Torito sections 2.1 and 2.2; platform 0xEF is UEFI (UEFI specification, section 13.3.2.1). */
function catalog(): Buffer {
  const entries = Buffer.alloc(64);
  entries.writeUInt8(1, 0);
  entries.writeUInt8(0xef, 1);
  entries.writeUInt16LE(0xaa55, 30);
  entries.writeUInt16LE(checksum(entries.subarray(0, 32)), 28);
  entries.writeUInt8(0x88, 32);
  // A sector count of 0 or 1 reaches to the end of the volume: the field could not hold what a kernel takes.
  entries.writeUInt16LE(0, 38);
  entries.writeUInt32LE(place.boot, 40);
  return entries;
}

/** What makes the sum of the words zero. */
function checksum(entry: Buffer): number {
  const words = Array.from({ length: entry.length / 2 }, (_, at) => entry.readUInt16LE(2 * at));
  return (0x10000 - (words.reduce((sum, word) => sum + word, 0) % 0x10000)) % 0x10000;
}

function bothEndian16(value: number): Buffer {
  const both = Buffer.alloc(4);
  both.writeUInt16LE(value, 0);
  both.writeUInt16BE(value, 2);
  return both;
}

function bothEndian32(value: number): Buffer {
  const both = Buffer.alloc(8);
  both.writeUInt32LE(value, 0);
  both.writeUInt32BE(value, 4);
  return both;
}
