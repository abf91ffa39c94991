import { DcgmTest } from '#contract/dcgm.ts';
import { validate } from '#contract/validate.ts';
import { readDcgmReport } from '#ramdisk/diag/dcgm.ts';
import { json, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const categories = [
  {
    category: 'Deployment',
    tests: [
      {
        name: 'software',
        results: [
          { gpu_ids: '0,1', status: 'Pass' },
          { entity_id: 2, status: 'Fail', warnings: [{ warning: 'w' }], info: 'i' },
        ],
      },
    ],
  },
];

/** The report of `dcgmi diag -j`: tests that fit the contract, or none. */
export const target: FuzzTarget = {
  seeds: [
    json({ 'DCGM GPU Diagnostic': { test_categories: categories } }),
    Buffer.concat([text('Warning: x\n'), json({ 'DCGM Diagnostic': { test_categories: categories } })]),
    json({ 'DCGM Diagnostic': { test_categories: [null, 5, { tests: {} }] } }),
  ],
  longest: 262_144,
  run(input) {
    for (const test of readDcgmReport(input.toString('utf8'))?.slice(0, 50) ?? []) validate(DcgmTest, test);
  },
};
