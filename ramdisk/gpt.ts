import { crc32 } from 'node:zlib';

/** UEFI 2.10 section 5.3.2: a GPT header is 92 bytes, then zeros to the end of its sector. */
const signature = 'EFI PART';
const headerBytes = 92;

/** A GPT header's fields that this program reads; sectors are LBAs. */
export interface GptHeader {
  sectorSize: number;
  headerSize: number;
  ownLba: number;
  alternateLba: number;
  firstUsableLba: number;
  lastUsableLba: number;
  entriesLba: number;
  entryCount: number;
  entrySize: number;
}

export interface GptPartition {
  /** From 1, as Linux numbers them. */
  number: number;
  /** Type GUID, lower case. */
  type: string;
  /** The partition's own GUID, lower case. */
  guid: string;
  firstLba: number;
  lastLba: number;
}

export const espType = 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b';

/**
 * The primary GPT header in the first bytes of a disk, whose logical sector size is found by where the header lies (512 or 4096).
 * Undefined when there is none, a checksum does not hold or its entries do not lie in `head`.
 */
export function readGpt(head: Buffer): GptHeader | undefined {
  for (const sectorSize of [512, 4096]) {
    const header = readHeader(head, sectorSize);
    if (header !== undefined) return header;
  }
  return undefined;
}

/** The partitions of a table that `readGpt` found in `head`, the unused entries left out. */
export function readPartitions(head: Buffer, header: GptHeader): GptPartition[] {
  const entries = entriesOf(head, header);
  const partitions: GptPartition[] = [];
  for (let index = 0; index < header.entryCount; index++) {
    const entry = entries.subarray(index * header.entrySize, (index + 1) * header.entrySize);
    const type = guidText(entry.subarray(0, 16));
    if (/^[0-]+$/.test(type)) continue;
    const guid = guidText(entry.subarray(16, 32));
    const firstLba = Number(entry.readBigUInt64LE(32));
    const lastLba = Number(entry.readBigUInt64LE(40));
    partitions.push({ number: index + 1, type, guid, firstLba, lastLba });
  }
  return partitions;
}

/** The bytes that a disk with this table needs at least: up to the end of its last partition, and the backup table behind it. */
export function bytesNeeded(head: Buffer, header: GptHeader): number {
  const lastLba = Math.max(
    header.firstUsableLba,
    ...readPartitions(head, header).map((entry) => entry.lastLba),
  );
  return (lastLba + 1 + entrySectors(header) + 1) * header.sectorSize;
}

/** A table moved to the end of a larger or smaller disk. */
export interface MovedGpt {
  /** The disk's first bytes with the protective MBR and the primary header changed. */
  head: Buffer;
  /** Entries and header of the backup, to be written from `backupOffset` to the end of the disk. */
  backup: Buffer;
  backupOffset: number;
}

/**
 * The table of an image fitted to a disk of `diskBytes`: backup entries and header at the disk's end, AlternateLBA, LastUsableLBA,
 * the protective MBR's size and both checksums set anew. `head` itself is not changed.
 */
export function moveBackup(head: Buffer, header: GptHeader, diskBytes: number): MovedGpt {
  const { sectorSize } = header;
  const lastLba = Math.floor(diskBytes / sectorSize) - 1;
  const backupEntriesLba = lastLba - entrySectors(header);
  const entries = entriesOf(head, header);
  const shared = { lastUsableLba: backupEntriesLba - 1 };
  const primary = { ...shared, ownLba: header.ownLba, alternateLba: lastLba, entriesLba: header.entriesLba };
  const secondary = { ...shared, ownLba: lastLba, alternateLba: header.ownLba, entriesLba: backupEntriesLba };
  const moved = Buffer.from(head);
  const original = head.subarray(sectorSize, 2 * sectorSize);
  writeHeader(original, header, primary).copy(moved, sectorSize);
  fitProtectiveMbr(moved, lastLba);
  const backup = Buffer.alloc((entrySectors(header) + 1) * sectorSize);
  entries.copy(backup);
  writeHeader(original, header, secondary).copy(backup, entrySectors(header) * sectorSize);
  return { head: moved, backup, backupOffset: backupEntriesLba * sectorSize };
}

function readHeader(head: Buffer, sectorSize: number): GptHeader | undefined {
  const sector = head.subarray(sectorSize, 2 * sectorSize);
  if (sector.length < sectorSize || sector.toString('latin1', 0, 8) !== signature) return undefined;
  const headerSize = sector.readUInt32LE(12);
  if (headerSize < headerBytes || headerSize > sectorSize) return undefined;
  if (headerChecksum(sector, headerSize) !== sector.readUInt32LE(16)) return undefined;
  const header: GptHeader = {
    sectorSize,
    headerSize,
    ownLba: lba(sector, 24),
    alternateLba: lba(sector, 32),
    firstUsableLba: lba(sector, 40),
    lastUsableLba: lba(sector, 48),
    entriesLba: lba(sector, 72),
    entryCount: sector.readUInt32LE(80),
    entrySize: sector.readUInt32LE(84),
  };
  return isPlausible(header, head) && crc32(entriesOf(head, header)) === sector.readUInt32LE(88)
    ? header
    : undefined;
}

/** Entry sizes are 128 times a power of two; the entries lie behind the header and within the bytes at hand. */
function isPlausible(header: GptHeader, head: Buffer): boolean {
  const { sectorSize, entrySize, entryCount, entriesLba, ownLba } = header;
  const end = entriesLba * sectorSize + entrySize * entryCount;
  return ownLba === 1 && entriesLba >= 2 && entrySize >= 128 && entrySize % 128 === 0 && end <= head.length;
}

function entriesOf(head: Buffer, { entriesLba, sectorSize, entryCount, entrySize }: GptHeader): Buffer {
  const start = entriesLba * sectorSize;
  return head.subarray(start, start + entryCount * entrySize);
}

function entrySectors({ entryCount, entrySize, sectorSize }: GptHeader): number {
  return Math.ceil((entryCount * entrySize) / sectorSize);
}

type Place = Pick<GptHeader, 'ownLba' | 'alternateLba' | 'lastUsableLba' | 'entriesLba'>;

function writeHeader(original: Buffer, header: GptHeader, place: Place): Buffer {
  const sector = Buffer.from(original);
  sector.writeBigUInt64LE(BigInt(place.ownLba), 24);
  sector.writeBigUInt64LE(BigInt(place.alternateLba), 32);
  sector.writeBigUInt64LE(BigInt(place.lastUsableLba), 48);
  sector.writeBigUInt64LE(BigInt(place.entriesLba), 72);
  sector.writeUInt32LE(headerChecksum(sector, header.headerSize), 16);
  return sector;
}

/** CRC32 of the header with its own checksum field as zero. */
function headerChecksum(sector: Buffer, headerSize: number): number {
  const copy = Buffer.from(sector.subarray(0, headerSize));
  copy.writeUInt32LE(0, 16);
  return crc32(copy);
}

/** UEFI 2.10 table 5.4: the protective record's SizeInLBA is the disk's size less one, or 0xFFFFFFFF when it does not fit. */
function fitProtectiveMbr(head: Buffer, lastLba: number): void {
  for (let offset = 446; offset < 510; offset += 16) {
    const protects = head[offset + 4] === 0xee && head.readUInt32LE(offset + 8) === 1;
    if (protects) head.writeUInt32LE(Math.min(lastLba, 0xffffffff), offset + 12);
  }
}

function lba(sector: Buffer, offset: number): number {
  return Number(sector.readBigUInt64LE(offset));
}

/** A GUID as written: its first three fields are little-endian on disk. */
function guidText(bytes: Buffer): string {
  const fields = [
    Buffer.from(bytes.subarray(0, 4)).reverse(),
    Buffer.from(bytes.subarray(4, 6)).reverse(),
    Buffer.from(bytes.subarray(6, 8)).reverse(),
    bytes.subarray(8, 10),
    bytes.subarray(10, 16),
  ];
  return fields.map((field) => field.toString('hex')).join('-');
}
