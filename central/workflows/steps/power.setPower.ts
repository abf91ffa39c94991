import type { StepInput } from '#contract/steps.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

export function setPower(run: StepRun, input: StepInput<'power.setPower'>): Promise<StepResult> {
  return relay(run, 'power.setPower', async () => input);
}
