import type { StepInput } from '#contract/steps.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

export function setBootDevice(
  run: StepRun,
  input: StepInput<'management.setBootDevice'>,
): Promise<StepResult> {
  return relay(run, 'management.setBootDevice', async () => input);
}
