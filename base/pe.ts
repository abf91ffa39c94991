/** One row of a PE section table. Addresses are relative to the image base, offsets to the start of the file, sizes in bytes. */
export interface PeSection {
  name: string;
  virtualAddress: number;
  virtualSize: number;
  fileOffset: number;
  fileSize: number;
}

/** How many bytes from the start of a UKI hold its headers with room to spare; `peSections` needs no more. */
export const peHeaderBytes = 4096;

/** Raised for a file that is no PE image, or a broken one. */
export class BrokenPe extends Error {
  constructor(reason: string) {
    super(`this is not a usable PE image: ${reason}`);
    this.name = 'BrokenPe';
  }
}

/** Where the fields that we read or change lie in the file (PE format, "Optional Header" and "Section Table"). */
interface PeLayout {
  fileHeader: number;
  optionalHeader: number;
  dataDirectories: number;
  sectionTable: number;
  sectionCount: number;
}

const sectionRowBytes = 40;

/**
 * The section table of a PE image, in file order. The first KiBs of the file suffice, so a large artifact need not be read whole.
 * @throws BrokenPe when the headers are not those of a PE image or end early
 */
export function peSections(image: Buffer): PeSection[] {
  const { sectionTable, sectionCount } = peLayout(image);
  return Array.from({ length: sectionCount }, (_, index) =>
    readSection(image, sectionTable + index * sectionRowBytes),
  );
}

/**
 * The part of the file that a section's content is: cut by the virtual size, because the file size is padded to
 * FileAlignment. (What a virtual size claims beyond the file size would be zeros and is left out.)
 */
export function sectionRange(section: PeSection): { offset: number; length: number } {
  return { offset: section.fileOffset, length: Math.min(section.virtualSize, section.fileSize) };
}

/**
 * The content of the named section of a whole image, or undefined when it has none of that name.
 * @throws BrokenPe when the image is broken or ends before the section does
 */
export function sectionData(image: Buffer, name: string): Buffer | undefined {
  const section = peSections(image).find((candidate) => candidate.name === name);
  if (section === undefined) return undefined;
  const { offset, length } = sectionRange(section);
  if (offset + length > image.length) throw new BrokenPe(`section ${name} lies beyond its end`);
  return image.subarray(offset, offset + length);
}

export function peLayout(image: Buffer): PeLayout {
  const fileHeader = fileHeaderOffset(image);
  const optionalHeader = fileHeader + 20;
  const sectionTable = optionalHeader + image.readUInt16LE(fileHeader + 16);
  const sectionCount = image.readUInt16LE(fileHeader + 2);
  if (sectionTable + sectionCount * sectionRowBytes > image.length)
    throw new BrokenPe('its headers end early');
  return {
    fileHeader,
    optionalHeader,
    dataDirectories: optionalHeader + 112,
    sectionTable,
    sectionCount,
  };
}

function fileHeaderOffset(image: Buffer): number {
  if (image.length < 64 || image.toString('latin1', 0, 2) !== 'MZ') throw new BrokenPe('no MZ at its start');
  const signature = image.readUInt32LE(60);
  if (signature + 24 > image.length) throw new BrokenPe('its headers end early');
  if (image.toString('latin1', signature, signature + 4) !== 'PE\0\0')
    throw new BrokenPe('no PE signature where the MZ header points');
  return signature + 4;
}

function readSection(image: Buffer, row: number): PeSection {
  return {
    name: image.toString('latin1', row, row + 8).replace(/\0.*$/s, ''),
    virtualSize: image.readUInt32LE(row + 8),
    virtualAddress: image.readUInt32LE(row + 12),
    fileSize: image.readUInt32LE(row + 16),
    fileOffset: image.readUInt32LE(row + 20),
  };
}
