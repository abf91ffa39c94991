import { expect, test } from 'vitest';
import { elToritoIso } from '#base/elTorito.ts';

const uefi = Buffer.alloc(5000, 0x42);
const loader = Buffer.alloc(2500, 0x17);
const file = { name: 'KERNEL.IMG', data: Buffer.alloc(3000, 0x5a) };
const iso = elToritoIso({ label: 'RAILHEAD', uefi, bios: { loader, files: [file] } });
const sector = (at: number) => iso.subarray(at * 2048, (at + 1) * 2048);
const catalog = sector(sector(17).readUInt32LE(71));

test('the primary descriptor tells the size of the volume, in both byte orders', () => {
  expect(sector(16).toString('latin1', 1, 6)).toBe('CD001');
  expect(sector(16).toString('latin1', 40, 72).trim()).toBe('RAILHEAD');
  expect([sector(16).readUInt32LE(80), sector(16).readUInt32BE(84)]).toEqual([30, 30]);
  expect(iso.length).toBe(30 * 2048);
});

test('the boot catalog leads UEFI to its file system, and its first entry sums up to zero', () => {
  expect(sector(17).toString('latin1', 7, 30)).toBe('EL TORITO SPECIFICATION');
  const words = Array.from({ length: 16 }, (_, at) => catalog.readUInt16LE(2 * at));
  expect(words.reduce((sum, word) => sum + word, 0) % 0x10000).toBe(0);
  expect([catalog[64], catalog[65], catalog[96]]).toEqual([0x91, 0xef, 0x88]);
  const start = catalog.readUInt32LE(104) * 2048;
  expect(iso.subarray(start, start + uefi.length).equals(uefi)).toBe(true);
});

test('and BIOS to its loader, which is told where it is', () => {
  expect([catalog[1], catalog[32], catalog.readUInt16LE(38)]).toEqual([0, 0x88, 4]);
  const at = catalog.readUInt32LE(40);
  const placed = iso.subarray(at * 2048, at * 2048 + loader.length);
  expect(placed.subarray(64).equals(loader.subarray(64))).toBe(true);
  const info = [8, 12, 16, 20].map((offset) => placed.readUInt32LE(offset));
  expect(info).toEqual([16, at, loader.length, (((loader.length - 64) / 4) * 0x17171717) % 2 ** 32]);
});

test('the files are in the root directory by name', () => {
  const root = sector(22);
  const records: { name: string; start: number; length: number }[] = [];
  for (let at = 0; root[at] !== 0; at += root[at] ?? 1) {
    const name = root.toString('latin1', at + 33, at + 33 + (root[at + 32] ?? 0));
    records.push({ name, start: root.readUInt32LE(at + 2), length: root.readUInt32LE(at + 10) });
  }
  expect(records.map(({ name }) => name)).toEqual([
    '\0',
    '\x01',
    'ISOLINUX.BIN;1',
    'KERNEL.IMG;1',
    'UEFI.IMG;1',
  ]);
  const { start = 0, length = 0 } = records.find(({ name }) => name === 'KERNEL.IMG;1') ?? {};
  expect(iso.subarray(start * 2048, start * 2048 + length).equals(file.data)).toBe(true);
});

test('without a loader for BIOS the catalog has the one entry for UEFI', () => {
  const plain = elToritoIso({ label: 'KEYS', uefi });
  const entries = plain.subarray(19 * 2048, 20 * 2048);
  const words = Array.from({ length: 16 }, (_, at) => entries.readUInt16LE(2 * at));
  expect(words.reduce((sum, word) => sum + word, 0) % 0x10000).toBe(0);
  expect([entries[1], entries[32], entries[64]]).toEqual([0xef, 0x88, 0]);
  const start = entries.readUInt32LE(40) * 2048;
  expect(plain.subarray(start, start + uefi.length).equals(uefi)).toBe(true);
});
