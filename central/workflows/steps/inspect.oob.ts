import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Has the BMC say which machine it is. */
export function inspectOob(run: StepRun): Promise<StepResult> {
  return relay(run, 'inspect.oob', async () => ({}));
}
