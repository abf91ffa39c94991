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
  { level: Type.Integer({ minimum: 1, maximum: 4 }), tests: Type.Array(DcgmTest, { maxItems: 4096 }) },
  closed,
);
export type DcgmResult = Static<typeof DcgmResult>;

/** Whether every test that was run passed. What does not apply to a GPU is skipped by DCGM; a run that tested nothing proves nothing. */
export function everyTestPassed({ tests }: DcgmResult): boolean {
  const run = tests.filter(({ status }) => status !== 'skipped');
  return run.length > 0 && run.every(({ status }) => status === 'passed');
}
