const sectorBytes = 2048;

/** Where things are, in sectors of 2048 bytes (ECMA-119 section 8: the descriptors begin at 16). */
const place = { descriptors: 16, catalog: 19, lPathTable: 20, mPathTable: 21, root: 22, files: 23 };
export const volumeDescriptor = place.descriptors;

const pathTableBytes = 10;

/** A file of the root directory, by its name in capitals: eight letters, a full stop, three. */
export interface IsoFile {
  name: string;
  data: Buffer;
}

export interface IsoContent {
  label: string;
  files: readonly IsoFile[];
  /** The boot catalog's bytes, at most a sector; it is told where the files are. */
  catalog(sectorOf: (name: string) => number): Buffer;
}

/** An ISO 9660 file system with one directory, and the boot record that leads to a boot catalog. */
export function isoImage({ label, files, catalog }: IsoContent): Buffer {
  const placed = placeFiles(files);
  const end = placed.reduce((sector, { data }) => sector + sectorsOf(data), place.files);
  const image = Buffer.alloc(end * sectorBytes);
  const put = (sector: number, content: Buffer) => content.copy(image, sector * sectorBytes);
  put(place.descriptors, primaryDescriptor(label, end));
  put(place.descriptors + 1, bootRecord());
  put(place.descriptors + 2, descriptor(255));
  put(
    place.catalog,
    catalog((name) => placed.find((file) => file.name === name)?.sector ?? 0),
  );
  put(place.lPathTable, pathTable('little'));
  put(place.mPathTable, pathTable('big'));
  put(place.root, rootDirectory(placed));
  for (const { sector, data } of placed) put(sector, data);
  return image;
}

/** The sector of each file, one after the other in the order given. */
export function placeFiles(files: readonly IsoFile[]): (IsoFile & { sector: number })[] {
  let next = place.files;
  return files.map((file) => {
    const sector = next;
    next += sectorsOf(file.data);
    return { ...file, sector };
  });
}

function sectorsOf(data: Buffer): number {
  return Math.ceil(data.length / sectorBytes);
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
  directoryRecord('\0').copy(sector, 156);
  sector.writeUInt8(1, 881);
  return sector;
}

/** Itself, its own parent, and the files by name (ECMA-119 §9.3). */
function rootDirectory(files: readonly (IsoFile & { sector: number })[]): Buffer {
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const records = sorted.map(({ name, sector, data }) => directoryRecord(`${name};1`, sector, data.length));
  return Buffer.concat([directoryRecord('\0'), directoryRecord('\x01'), ...records]);
}

/** Without `length` it is a directory. Records have an even length (ECMA-119 §9.1). */
function directoryRecord(name: string, sector: number = place.root, length?: number): Buffer {
  const record = Buffer.alloc(33 + name.length + ((name.length + 1) % 2));
  record.writeUInt8(record.length, 0);
  bothEndian32(sector).copy(record, 2);
  bothEndian32(length ?? sectorBytes).copy(record, 10);
  record.writeUInt8(length === undefined ? 2 : 0, 25);
  bothEndian16(1).copy(record, 28);
  record.writeUInt8(name.length, 32);
  record.write(name, 33, 'latin1');
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
