import { RailheadError } from '#contract/errors.ts';
import type { StepResult } from '../stepRun.ts';

/** Lands with the metal methods. */
export async function refreshInventory(): Promise<StepResult> {
  throw new RailheadError('UNSUPPORTED', 'inventory.refresh is not carried out by this centre yet', {
    reason: 'not-yet',
  });
}
