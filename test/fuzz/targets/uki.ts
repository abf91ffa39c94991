import assert from 'node:assert/strict';
import { BrokenPe, sectionData } from '#base/pe.ts';
import { assembleUki } from '#base/uki.ts';
import { syntheticStub } from '../../base/syntheticStub.ts';
import type { FuzzTarget } from '../target.ts';

const kernel = Buffer.alloc(700, 'k');
const sections = [
  { name: '.linux', data: kernel },
  { name: '.initrd', data: Buffer.from('initrd') },
];

/** Sections added to a stub come out as they were, or the stub is BrokenPe. */
export const target: FuzzTarget = {
  seeds: [
    syntheticStub(),
    syntheticStub({ headerBytes: 512 }),
    syntheticStub({
      sections: [
        { name: '.text', data: Buffer.alloc(400) },
        { name: '.sbat', data: Buffer.from('sbat') },
      ],
    }),
    syntheticStub({ certificateTable: 5 }),
  ],
  longest: 65_536,
  run(input) {
    const image = assembleUki({ stub: input, sections });
    assert(sectionData(image, '.linux')?.equals(kernel));
  },
  declares: (error) => error instanceof BrokenPe,
};
