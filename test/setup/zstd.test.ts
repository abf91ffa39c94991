import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { elfNeeds } from '#ramdisk/image/elf.ts';

test('the compiled zstd module brings no second Node into the process', () => {
  const module = readFileSync('node_modules/zstd-napi/build/Release/binding.node');
  const { libraries: needed = [] } = elfNeeds(module) ?? {};
  expect(needed).toContain('libc.so.6');
  expect(needed.filter((name) => name.startsWith('libnode'))).toEqual([]);
});
