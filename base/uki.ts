import { BrokenPe, type PeSection, peLayout, peSections } from './pe.ts';

export interface UkiSection {
  /** `.linux`, `.initrd`, `.cmdline`, `.osrel`, `.uname`, …: at most 8 bytes. */
  name: string;
  data: Buffer;
}

const sectionRowBytes = 40;
const initializedReadableData = 0x40000040;
const largestImage = 0xffff_ffff;

/**
 * A unified kernel image: systemd's EFI stub with sections added after its last one. Addresses are computed from the
 * stub's own, because the stub of Debian 13 (257) has an image base of 0x14df90000 where any fixed address is below it
 * and the firmware answers "Load Error". The same input gives the same bytes: time stamps stay the stub's, the checksum is 0.
 * @throws BrokenPe when the stub cannot take the sections: signed, not PE32+, the name is taken or too long
 */
export function assembleUki(parts: { stub: Buffer; sections: readonly UkiSection[] }): Buffer {
  checkStub(parts.stub);
  checkNames(parts.stub, parts.sections);
  const stub = withTableRoom(parts.stub, parts.sections.length);
  const placed = place(stub, parts.sections);
  const image = Buffer.alloc(fileEnd(placed) ?? stub.length);
  stub.copy(image);
  for (const { data, row } of placed) data.copy(image, row.fileOffset);
  writeHeaders(image, placed);
  return image;
}

interface PlacedSection {
  data: Buffer;
  row: PeSection;
}

function checkStub(stub: Buffer): void {
  const { optionalHeader, dataDirectories, sectionTable } = peLayout(stub);
  if (dataDirectories + 40 > sectionTable) throw new BrokenPe('its optional header is too short');
  if (stub.readUInt16LE(optionalHeader) !== 0x20b) throw new BrokenPe('it is not PE32+');
  if (certificateTable(stub) !== 0) throw new BrokenPe('it is signed: assemble first, sign the result');
  const alignments = [sectionAlignment(stub), fileAlignment(stub)];
  if (!alignments.every(isAlignment)) throw new BrokenPe('an alignment is no power of two up to 64 KiB');
}

function checkNames(stub: Buffer, sections: readonly UkiSection[]): void {
  const taken = new Set(peSections(stub).map((section) => section.name));
  for (const { name } of sections) {
    if (Buffer.byteLength(name, 'latin1') > 8 || !/^[\x21-\x7e]+$/.test(name))
      throw new BrokenPe(`section name ${JSON.stringify(name)} is not 1 to 8 printable characters`);
    if (taken.has(name)) throw new BrokenPe(`section ${name} is there already`);
    taken.add(name);
  }
}

/** The stub with room for `added` more rows in its section table: as it is, or with everything after the headers moved on. */
function withTableRoom(stub: Buffer, added: number): Buffer {
  const { sectionTable, sectionCount } = peLayout(stub);
  const tableEnd = sectionTable + sectionCount * sectionRowBytes;
  const wanted = tableEnd + added * sectionRowBytes;
  const available = firstContent(stub);
  if (available < tableEnd) throw new BrokenPe('a section lies inside its headers');
  const filler = stub.subarray(tableEnd, Math.min(wanted, available));
  if (filler.some((byte) => byte !== 0)) throw new BrokenPe('something lies right after its section table');
  return wanted <= available
    ? Buffer.from(stub)
    : growHeaders(stub, available, alignUp(wanted, fileAlignment(stub)));
}

function growHeaders(stub: Buffer, from: number, to: number): Buffer {
  const firstAddress = Math.min(...peSections(stub).map((section) => section.virtualAddress));
  if (to > firstAddress) throw new BrokenPe('its section table cannot grow so far');
  const shift = alignUp(to - from, fileAlignment(stub));
  const grown = Buffer.concat([stub.subarray(0, from), Buffer.alloc(shift), stub.subarray(from)]);
  grown.writeUInt32LE(from + shift, peLayout(grown).optionalHeader + 60);
  moveFilePointers(grown, shift);
  return grown;
}

/** File offsets stand in the section table and, once more, in the rows of the debug directory. */
function moveFilePointers(image: Buffer, shift: number): void {
  const { fileHeader, sectionTable, sectionCount } = peLayout(image);
  addTo(image, fileHeader + 8, shift);
  for (let index = 0; index < sectionCount; index++)
    addTo(image, sectionTable + index * sectionRowBytes + 20, shift);
  for (const row of debugRows(image)) addTo(image, row + 24, shift);
}

/** Adds to a file offset or size, where there is one. */
function addTo(image: Buffer, at: number, bytes: number): void {
  const value = image.readUInt32LE(at);
  if (value > largestImage - bytes) throw new BrokenPe('an offset or size lies beyond 4 GiB');
  if (value !== 0) image.writeUInt32LE(value + bytes, at);
}

/** File offsets of the debug directory's 28-byte rows; none when it has no such directory. */
function debugRows(image: Buffer): number[] {
  const { dataDirectories, sectionTable } = peLayout(image);
  const entry = dataDirectories + 6 * 8;
  if (entry + 8 > sectionTable) return [];
  const address = image.readUInt32LE(entry);
  const home = peSections(image).find(
    (section) => address >= section.virtualAddress && address < section.virtualAddress + section.fileSize,
  );
  if (address === 0 || home === undefined) return [];
  const start = home.fileOffset + address - home.virtualAddress;
  // As many as it says, and no more than there is room for.
  const size = Math.min(image.readUInt32LE(entry + 4), Math.max(0, image.length - start));
  return Array.from({ length: Math.floor(size / 28) }, (_, index) => start + index * 28);
}

function place(stub: Buffer, sections: readonly UkiSection[]): PlacedSection[] {
  let fileOffset = alignUp(stub.length, fileAlignment(stub));
  let virtualAddress = alignUp(addressEnd(peSections(stub)), sectionAlignment(stub));
  return sections.map(({ name, data }) => {
    const fileSize = alignUp(data.length, fileAlignment(stub));
    const row = { name, virtualAddress, virtualSize: data.length, fileOffset, fileSize };
    fileOffset += fileSize;
    virtualAddress = alignUp(virtualAddress + data.length, sectionAlignment(stub));
    if (Math.max(fileOffset, virtualAddress) > largestImage)
      throw new BrokenPe('more than 4 GiB of sections');
    return { data, row };
  });
}

function writeHeaders(image: Buffer, placed: readonly PlacedSection[]): void {
  const { fileHeader, optionalHeader, sectionTable, sectionCount } = peLayout(image);
  for (const [index, { row }] of placed.entries())
    writeSection(image, sectionTable + (sectionCount + index) * sectionRowBytes, row);
  image.writeUInt16LE(sectionCount + placed.length, fileHeader + 2);
  const added = placed.reduce((sum, { row }) => sum + row.fileSize, 0);
  addTo(image, optionalHeader + 8, added);
  image.writeUInt32LE(alignUp(addressEnd(peSections(image)), sectionAlignment(image)), optionalHeader + 56);
  image.writeUInt32LE(0, optionalHeader + 64);
}

function writeSection(image: Buffer, at: number, row: PeSection): void {
  image.write(row.name, at, 8, 'latin1');
  image.writeUInt32LE(row.virtualSize, at + 8);
  image.writeUInt32LE(row.virtualAddress, at + 12);
  image.writeUInt32LE(row.fileSize, at + 16);
  image.writeUInt32LE(row.fileOffset, at + 20);
  image.writeUInt32LE(initializedReadableData, at + 36);
}

function firstContent(image: Buffer): number {
  const offsets = peSections(image)
    .filter((section) => section.fileSize > 0)
    .map((section) => section.fileOffset);
  return Math.min(image.length, ...offsets);
}

function fileEnd(placed: readonly PlacedSection[]): number | undefined {
  const last = placed.at(-1);
  return last && last.row.fileOffset + last.row.fileSize;
}

function addressEnd(sections: readonly PeSection[]): number {
  return Math.max(0, ...sections.map((section) => section.virtualAddress + section.virtualSize));
}

function sectionAlignment(image: Buffer): number {
  return image.readUInt32LE(peLayout(image).optionalHeader + 32);
}

function fileAlignment(image: Buffer): number {
  return image.readUInt32LE(peLayout(image).optionalHeader + 36);
}

/** Data directory 4, "Certificate Table": where the signature of a signed image starts. */
function certificateTable(image: Buffer): number {
  return image.readUInt32LE(peLayout(image).dataDirectories + 4 * 8);
}

function isAlignment(value: number): boolean {
  return value > 0 && value <= 65_536 && (value & (value - 1)) === 0;
}

function alignUp(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
}
