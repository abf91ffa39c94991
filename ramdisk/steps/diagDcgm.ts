import { runDcgm } from '../diag/dcgm.ts';
import type { Step } from './index.ts';

/** Has NVIDIA's DCGM test the GPUs. That a test failed is a result, not a failure of the step: the centre decides. */
export const diagDcgm: Step<'diag.dcgm'> = async ({ level }, { progress, signal }) => {
  progress(`testing the GPUs at level ${level}`);
  return { result: { ...(await runDcgm(level, signal)) } };
};
