import { expect, test } from 'vitest';
import { elToritoIso } from '#rack/iso/elTorito.ts';

const boot = Buffer.alloc(5000, 0x42);
const iso = elToritoIso(boot, 'RAILHEAD');
const sector = (at: number) => iso.subarray(at * 2048, (at + 1) * 2048);

test('the primary descriptor tells the size of the volume, in both byte orders', () => {
  expect(sector(16).toString('latin1', 1, 6)).toBe('CD001');
  expect(sector(16).toString('latin1', 40, 72).trim()).toBe('RAILHEAD');
  expect([sector(16).readUInt32LE(80), sector(16).readUInt32BE(84)]).toEqual([26, 26]);
  expect(iso.length).toBe(26 * 2048);
});

test('the boot catalog leads to the file system that was given, and its first entry sums up to zero', () => {
  expect(sector(17).toString('latin1', 7, 30)).toBe('EL TORITO SPECIFICATION');
  const catalog = sector(sector(17).readUInt32LE(71));
  const words = Array.from({ length: 16 }, (_, at) => catalog.readUInt16LE(2 * at));
  expect(words.reduce((sum, word) => sum + word, 0) % 0x10000).toBe(0);
  expect([catalog[1], catalog[32]]).toEqual([0xef, 0x88]);
  const start = catalog.readUInt32LE(40) * 2048;
  expect(iso.subarray(start, start + boot.length).equals(boot)).toBe(true);
});
