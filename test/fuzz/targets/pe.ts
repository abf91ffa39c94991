import { BrokenPe, peSections, sectionData, sectionRange } from '#base/pe.ts';
import { assembleUki } from '#base/uki.ts';
import { syntheticStub } from '../../base/syntheticStub.ts';
import type { FuzzTarget } from '../target.ts';

/** A PE image of a cache: its sections, or BrokenPe. */
export const target: FuzzTarget = {
  seeds: [
    syntheticStub(),
    assembleUki({
      stub: syntheticStub(),
      sections: [
        { name: '.linux', data: Buffer.from('kernel') },
        { name: '.initrd', data: Buffer.alloc(900) },
      ],
    }),
    Buffer.from('MZ'),
  ],
  longest: 65_536,
  run(input) {
    for (const section of peSections(input)) sectionRange(section);
    sectionData(input, '.linux');
  },
  declares: (error) => error instanceof BrokenPe,
};
