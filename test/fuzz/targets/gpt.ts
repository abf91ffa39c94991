import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { bytesNeeded, espType, moveBackup, readGpt, readPartitions } from '#ramdisk/gpt.ts';
import type { FuzzTarget } from '../target.ts';

/** The first sectors of a disk with one ESP. */
function disk(sectorSize: number, entrySize = 128, entryCount = 16): Buffer {
  const head = Buffer.alloc(2 * sectorSize + entrySize * entryCount + 512);
  head[446 + 4] = 0xee;
  head.writeUInt32LE(1, 446 + 8);
  const entries = head.subarray(2 * sectorSize, 2 * sectorSize + entrySize * entryCount);
  Buffer.from(espType.replaceAll('-', ''), 'hex').copy(entries);
  entries.writeBigUInt64LE(2048n, 32);
  entries.writeBigUInt64LE(4095n, 40);
  const sector = head.subarray(sectorSize);
  sector.write('EFI PART', 'latin1');
  sector.writeUInt32LE(92, 12);
  for (const [at, lba] of [
    [24, 1n],
    [32, 9999n],
    [40, 34n],
    [48, 9966n],
    [72, 2n],
  ] as const)
    sector.writeBigUInt64LE(lba, at);
  sector.writeUInt32LE(entryCount, 80);
  sector.writeUInt32LE(entrySize, 84);
  return sealed(head, sectorSize);
}

/** With checksums that hold: a changed table is no accident here, but somebody's image. */
function sealed(head: Buffer, sectorSize: number): Buffer {
  const copy = Buffer.from(head);
  const sector = copy.subarray(sectorSize, 2 * sectorSize);
  if (sector.length < sectorSize) return copy;
  const start = Number(sector.readBigUInt64LE(72)) * sectorSize;
  const length = sector.readUInt32LE(80) * sector.readUInt32LE(84);
  sector.writeUInt32LE(crc32(copy.subarray(start, start + length)), 88);
  const header = Buffer.from(sector.subarray(0, Math.min(sector.readUInt32LE(12), sectorSize)));
  if (header.length < 20) return copy;
  header.writeUInt32LE(0, 16);
  sector.writeUInt32LE(crc32(header), 16);
  return copy;
}

/** An image's partition table, whose checksums are right however wrong the rest is: read and moved to a disk's end, or none. */
export const target: FuzzTarget = {
  seeds: [disk(512), disk(4096), disk(512, 256, 8), disk(512, 128, 1)],
  longest: 65_536,
  run(input) {
    for (const sectorSize of [512, 4096]) {
      const head = sealed(input, sectorSize);
      const header = readGpt(head);
      if (header === undefined) continue;
      readPartitions(head, header);
      assert(bytesNeeded(head, header) > 0);
      const diskBytes = 10_000_000_000;
      const moved = moveBackup(head, header, diskBytes);
      assert.equal(
        moved.backupOffset + moved.backup.length,
        Math.floor(diskBytes / header.sectorSize) * header.sectorSize,
      );
    }
  },
};
