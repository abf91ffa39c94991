import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

export function getPower(run: StepRun): Promise<StepResult> {
  return relay(run, 'power.getPower', async () => ({}));
}
