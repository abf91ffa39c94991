import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Takes the medium out; where the machine was booted by `sanboot` instead, removes its boot entry. */
export function ejectMedia(run: StepRun): Promise<StepResult> {
  return relay(run, 'media.eject', async () => ({}));
}
