/** What a 64-bit little-endian ELF file asks the loader for. */
export interface ElfNeeds {
  /** Path of the loader; absent in a library. */
  interpreter?: string;
  /** DT_NEEDED: sonames, in order. */
  libraries: string[];
}

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

const loadSegment = 1;
const dynamicSegment = 2;
const interpreterSegment = 3;
const neededTag = 1;
const stringTableTag = 5;

/** Reads PT_INTERP and DT_NEEDED (System V gABI, chapter 5). Undefined for anything that is no such ELF file, or a broken one. */
export function elfNeeds(file: Buffer): ElfNeeds | undefined {
  if (file.length < 64 || file.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') return undefined;
  try {
    const segments = readSegments(file);
    const interpreter = segments.find(({ type }) => type === interpreterSegment);
    const dynamic = segments.find(({ type }) => type === dynamicSegment);
    const libraries = dynamic === undefined ? [] : readNeeded(file, segments, dynamic);
    return { ...(interpreter && { interpreter: stringAt(file, interpreter.offset) }), libraries };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The content of a named section; undefined when the file has none, or is no ELF file that we read. */
export function elfSection(file: Buffer, name: string): Buffer | undefined {
  if (file.length < 64 || file.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') return undefined;
  try {
    const table = number64(file, 40);
    const rows = Array.from({ length: file.readUInt16LE(60) }, (_, index) =>
      readSection(file, table + index * file.readUInt16LE(58)),
    );
    const names = rows[file.readUInt16LE(62)];
    const found = names && rows.find((row) => stringAt(file, names.offset + row.name) === name);
    return found && file.subarray(found.offset, found.offset + found.size);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readSection(file: Buffer, row: number): { name: number; offset: number; size: number } {
  return {
    name: file.readUInt32LE(row),
    offset: number64(file, row + 24),
    size: number64(file, row + 32),
  };
}

function readSegments(file: Buffer): Segment[] {
  const table = number64(file, 32);
  const rowBytes = file.readUInt16LE(54);
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const row = table + index * rowBytes;
    return {
      type: file.readUInt32LE(row),
      offset: number64(file, row + 8),
      address: number64(file, row + 16),
      size: number64(file, row + 32),
    };
  });
}

function readNeeded(file: Buffer, segments: readonly Segment[], dynamic: Segment): string[] {
  const entries: [tag: number, value: number][] = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    const tag = number64(file, at);
    if (tag === 0) break;
    entries.push([tag, number64(file, at + 8)]);
  }
  const strings = entries.find(([tag]) => tag === stringTableTag)?.[1] ?? 0;
  const home = segments.find(
    ({ type, address, size }) => type === loadSegment && strings >= address && strings < address + size,
  );
  if (home === undefined) return [];
  const start = home.offset + strings - home.address;
  return entries.filter(([tag]) => tag === neededTag).map(([, value]) => stringAt(file, start + value));
}

function stringAt(file: Buffer, offset: number): string {
  const end = file.indexOf(0, offset);
  if (offset >= file.length || end < 0) throw new RangeError('a string lies beyond the end');
  return file.toString('latin1', offset, end);
}

/** Offsets and tags beyond 2^53 are none that a file can have: they become a RangeError by the read that follows. */
function number64(file: Buffer, offset: number): number {
  return Number(file.readBigUInt64LE(offset));
}
