import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { elfNeeds, elfSection } from '#ramdisk/image/elf.ts';

const node = readFileSync(process.execPath);

test('reads the loader and the libraries that a program needs', () => {
  const needs = elfNeeds(node);
  expect(needs?.interpreter).toMatch(/^\/lib.*\/ld-linux/);
  expect(needs?.libraries).toEqual(expect.arrayContaining(['libc.so.6', 'libstdc++.so.6']));
});

test('reads a section by its name', () => {
  expect(elfSection(node, '.interp')?.toString('latin1')).toBe(`${elfNeeds(node)?.interpreter}\0`);
  expect(elfSection(node, '.no-such-section')).toBeUndefined();
});

test('a script is no ELF file', () => {
  expect(elfNeeds(Buffer.from('#!/bin/sh\n'.padEnd(100)))).toBeUndefined();
  expect(elfSection(Buffer.from('#!/bin/sh\n'.padEnd(100)), '.modinfo')).toBeUndefined();
});

test('a file cut short or damaged in its headers is answered, never thrown at', () => {
  const head = node.subarray(0, 4096);
  fc.assert(
    fc.property(fc.nat(4095), fc.nat(1023), fc.integer({ min: 0, max: 255 }), (length, at, byte) => {
      const damaged = Buffer.from(head.subarray(0, length));
      if (at > 5 && at < damaged.length) damaged[at] = byte;
      elfNeeds(damaged);
      elfSection(damaged, '.modinfo');
      return true;
    }),
  );
});
