import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };

/** How much NVIDIA's DCGM tests: 1 seconds, 2 minutes, 3 and 4 long stress tests. */
export const DcgmLevel = Type.Integer({ minimum: 1, maximum: 4, default: 1 });

export const DcgmTest = Type.Object(
  {
    category: Type.String({ maxLength: 256 }),
    name: Type.String({ maxLength: 256 }),
    status: Type.Enum(['passed', 'failed', 'skipped']),
    /** The GPU or other part that it was of, as DCGM numbers them. */
    part: Type.Optional(Type.String({ maxLength: 256 })),
    message: Type.Optional(Type.String({ maxLength: 4096 })),
  },
  closed,
);
export type DcgmTest = Static<typeof DcgmTest>;

/** What `diag.dcgm` returns. */
export const DcgmResult = Type.Object(
  {
    level: Type.Integer({ minimum: 1, maximum: 4 }),
    /** How many NVIDIA GPUs the machine has, seen on its PCI bus; older ramdisks do not say. */
    gpus: Type.Optional(Type.Integer({ minimum: 0, maximum: 4096 })),
    tests: Type.Array(DcgmTest, { maxItems: 4096 }),
  },
  closed,
);
export type DcgmResult = Static<typeof DcgmResult>;

/**
 * Whether every test passed: one that was skipped did not. A machine without a GPU has nothing to test; with one, a run of no test
 * proves nothing.
 */
export function everyTestPassed({ gpus, tests }: DcgmResult): boolean {
  return (gpus === 0 || tests.length > 0) && tests.every(({ status }) => status === 'passed');
}
