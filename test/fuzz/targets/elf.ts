import { readFileSync } from 'node:fs';
import { elfNeeds, elfSection } from '#ramdisk/image/elf.ts';
import type { FuzzTarget } from '../target.ts';

function smallElf(): Buffer {
  const file = Buffer.alloc(512);
  file.write('\x7fELF\x02\x01', 'latin1');
  file.writeBigUInt64LE(64n, 32);
  file.writeBigUInt64LE(256n, 40);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(2, 56);
  file.writeUInt16LE(64, 58);
  file.writeUInt16LE(1, 60);
  for (const [row, type] of [
    [64, 1],
    [120, 2],
  ] as const) {
    file.writeUInt32LE(type, row);
    file.writeBigUInt64LE(400n, row + 8);
    file.writeBigUInt64LE(48n, row + 32);
  }
  file.writeBigUInt64LE(5n, 400);
  return file;
}

/** An ELF file of a package: what it needs and its sections, or nothing. */
export const target: FuzzTarget = {
  seeds: [smallElf(), readFileSync('/bin/true').subarray(0, 65_536)],
  longest: 65_536,
  run(input) {
    elfNeeds(input);
    elfSection(input, '.modinfo');
  },
};
