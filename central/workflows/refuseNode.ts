import { RailheadError } from '#contract/errors.ts';
import type { StepRun } from './stepRun.ts';

/** @throws RailheadError UNSUPPORTED for a step that the profile wants on the running OS: its agent carries out no operations yet */
export function refuseNode({ step }: StepRun): void {
  if (step.on !== 'node') return;
  const message = `${step.use} on node: the agent of a running OS carries out no operations yet; leave out 'on', and it runs in the ramdisk`;
  throw new RailheadError('UNSUPPORTED', message, { path: 'on', reason: 'not-yet' });
}
