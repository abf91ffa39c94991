import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BrokenPe, peHeaderBytes, peSections, sectionData, sectionRange } from '#base/pe.ts';
import { assembleUki } from '#base/uki.ts';
import { syntheticStub } from './syntheticStub.ts';

const kernel = Buffer.alloc(5000, 'k');
const uki = assembleUki({ stub: syntheticStub(), sections: [{ name: '.linux', data: kernel }] });

test('lists the sections of an image in file order', () => {
  expect(peSections(uki)).toEqual([
    { name: '.text', virtualAddress: 4096, virtualSize: 4, fileOffset: 1024, fileSize: 512 },
    { name: '.linux', virtualAddress: 8192, virtualSize: 5000, fileOffset: 1536, fileSize: 5120 },
  ]);
});

test('needs only the start of the file to list them', () => {
  expect(peSections(uki.subarray(0, peHeaderBytes))).toEqual(peSections(uki));
});

test('cuts a section by its virtual size, not by the padded size in the file', () => {
  expect(sectionData(uki, '.linux')?.equals(kernel)).toBe(true);
});

test('a section that claims more than the file holds ends with the file', () => {
  const section = { name: '.bss', virtualAddress: 0, virtualSize: 9000, fileOffset: 512, fileSize: 512 };
  expect(sectionRange(section)).toEqual({ offset: 512, length: 512 });
});

test('knows no section of another name', () => {
  expect(sectionData(uki, '.initrd')).toBeUndefined();
});

test('a section that lies beyond the end of the file is an error', () => {
  expect(() => sectionData(uki.subarray(0, 2000), '.linux')).toThrow(BrokenPe);
});

test.each([
  ['an empty file', Buffer.alloc(0)],
  ['zeros', Buffer.alloc(4096)],
  ['headers that end early', uki.subarray(0, 100)],
  ['a section table that ends early', uki.subarray(0, 340)],
])('%s is no PE image', (_, image) => {
  expect(() => peSections(image)).toThrow(BrokenPe);
});

test('any bytes are either read or refused as broken', () => {
  const anyBytes = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes));
  const changedImage = fc
    .tuple(fc.nat(400), fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.nat(uki.length))
    .map(([at, bytes, length]) => {
      const image = Buffer.from(uki);
      image.set(bytes, at);
      return image.subarray(0, length);
    });
  fc.assert(
    fc.property(fc.oneof(anyBytes, changedImage), (image) => {
      for (const section of sectionsOrNone(image))
        expect(sectionOrNone(image, section.name).length).toBeLessThanOrEqual(image.length);
    }),
    { numRuns: 2000 },
  );
});

function sectionsOrNone(image: Buffer): ReturnType<typeof peSections> {
  return orElse(() => peSections(image), []);
}

function sectionOrNone(image: Buffer, name: string): Buffer {
  return orElse(() => sectionData(image, name) ?? Buffer.alloc(0), Buffer.alloc(0));
}

function orElse<Value>(read: () => Value, fallback: Value): Value {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(BrokenPe);
    return fallback;
  }
}
