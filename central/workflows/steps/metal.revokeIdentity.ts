import { RailheadError } from '#contract/errors.ts';
import type { StepResult } from '../stepRun.ts';

/** Lands with the metal methods. */
export async function revokeIdentity(): Promise<StepResult> {
  throw new RailheadError('UNSUPPORTED', 'metal.revokeIdentity is not carried out by this centre yet', {
    reason: 'not-yet',
  });
}
