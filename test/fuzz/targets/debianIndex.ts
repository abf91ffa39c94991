import { debFileName, dependencyMatching, parseRecords, parseSimulation } from '#base/debian/packages.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** What apt tells of packages. */
export const target: FuzzTarget = {
  seeds: [
    `Package: ipxe\nVersion: 1:1.21.1\nArchitecture: all\nSHA256: ${'ab'.repeat(32)}\nSize: 5\nDepends: a (>= 1) | b, c:any\n\nPackage: x\n`,
    'Inst libc6 [2.36] (2.41 Debian:13/stable [amd64])\nInst x (1 y)\n',
    '\n\n \n',
  ].map(text),
  longest: 262_144,
  run(input) {
    const told = input.toString('utf8');
    for (const record of parseRecords(told)) {
      debFileName(record);
      dependencyMatching(record.depends, /^a/);
    }
    parseSimulation(told);
  },
};
