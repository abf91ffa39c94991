import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BrokenPe, peSections, sectionData } from '#base/pe.ts';
import { assembleUki, type UkiSection } from '#base/uki.ts';
import { syntheticStub } from './syntheticStub.ts';

const optionalHeader = 88;
const twenty = Array.from({ length: 20 }, (_, index) => ({
  name: `.s${index}`,
  data: Buffer.alloc(100 + index, index),
}));

test('places sections after the last one, aligned as the stub says', () => {
  const image = assembleUki({ stub: syntheticStub(), sections: twenty.slice(0, 3) });
  for (const section of peSections(image)) {
    expect(section.virtualAddress % 4096).toBe(0);
    expect(section.fileOffset % 512).toBe(0);
  }
  expect(peSections(image).map((section) => section.virtualAddress)).toEqual([4096, 8192, 12288, 16384]);
});

test('updates image size and data size, and clears the checksum', () => {
  const image = assembleUki({
    stub: syntheticStub(),
    sections: [{ name: '.linux', data: Buffer.alloc(5000) }],
  });
  expect(image.readUInt32LE(optionalHeader + 56)).toBe(16384);
  expect(image.readUInt32LE(optionalHeader + 8)).toBe(512 + 5120);
  expect(image.readUInt32LE(optionalHeader + 64)).toBe(0);
});

test('grows the headers when the section table has no room', () => {
  const stub = syntheticStub({ headerBytes: 512 });
  const image = assembleUki({ stub, sections: twenty });
  expect(image.readUInt32LE(optionalHeader + 60)).toBe(1536);
  expect(sectionData(image, '.text')).toEqual(Buffer.from('code'));
  for (const { name, data } of twenty) expect(sectionData(image, name)).toEqual(data);
});

test('growing the headers moves the file offsets of the debug directory too', () => {
  const debug = Buffer.alloc(28);
  debug.writeUInt32LE(700, 24);
  const stub = syntheticStub({ headerBytes: 512, sections: [{ name: '.rdata', data: debug }] });
  stub.writeUInt32LE(4096, optionalHeader + 112 + 48);
  stub.writeUInt32LE(28, optionalHeader + 112 + 52);
  const image = assembleUki({ stub, sections: twenty });
  expect(sectionData(image, '.rdata')?.readUInt32LE(24)).toBe(700 + 1024);
});

test('the same input gives the same bytes', () => {
  const parts = { stub: syntheticStub(), sections: twenty };
  expect(assembleUki(parts).equals(assembleUki(parts))).toBe(true);
});

test.each<[string, Buffer, UkiSection[]]>([
  ['a signed stub', syntheticStub({ certificateTable: 1536 }), []],
  ['a name that the stub has', syntheticStub(), [{ name: '.text', data: Buffer.alloc(1) }]],
  ['a name of nine bytes', syntheticStub(), [{ name: '.toolong1', data: Buffer.alloc(1) }]],
  ['a file that is no PE image', Buffer.alloc(2000), []],
  ['more rows than fit before the first address', syntheticStub(), manySections(100)],
])('refuses %s', (_, stub, sections) => {
  expect(() => assembleUki({ stub, sections })).toThrow(BrokenPe);
});

test('a damaged stub is either used or refused as broken', () => {
  const changed = fc.tuple(fc.nat(400), fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.nat(1536));
  fc.assert(
    fc.property(changed, ([at, bytes, length]) => {
      const stub = syntheticStub({ headerBytes: 512 });
      stub.set(bytes, at);
      try {
        assembleUki({ stub: stub.subarray(0, length), sections: twenty });
      } catch (error) {
        expect(error).toBeInstanceOf(BrokenPe);
      }
    }),
    { numRuns: 2000 },
  );
});

/** There once the ramdisk or the demo OS was built. */
const realStub = globSync('.cache/**/linuxx64.efi.stub')[0];
test.skipIf(realStub === undefined)("objdump reads our sections back from Debian's own stub", () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'railhead-uki-'));
  try {
    const file = path.join(directory, 'uki.efi');
    writeFileSync(file, assembleUki({ stub: readFileSync(realStub ?? ''), sections: twenty }));
    const listing = execFileSync('objdump', ['-h', file], { encoding: 'utf8' });
    for (const { name, data } of twenty)
      expect(listing).toMatch(
        new RegExp(`\\${name} +${data.length.toString(16).padStart(8, '0')} +[0-9a-f]+`),
      );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

function manySections(count: number): UkiSection[] {
  return Array.from({ length: count }, (_, index) => ({ name: `.m${index}`, data: Buffer.alloc(1) }));
}
