import { RailheadError } from '#contract/errors.ts';
import type { StepResult } from '../stepRun.ts';

/** Lands with the metal methods. */
export async function ensureRamdisk(): Promise<StepResult> {
  throw new RailheadError('UNSUPPORTED', 'metal.ensureRamdisk is not carried out by this centre yet', {
    reason: 'not-yet',
  });
}
