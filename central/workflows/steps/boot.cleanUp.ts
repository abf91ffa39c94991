import { dropEntry } from '../../bootEntries.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Removes the machine's boot entry at its site: from then on it is told to boot its disk. */
export function cleanUp(run: StepRun): Promise<StepResult> {
  return relay(run, 'boot.cleanUp', async () => {
    await dropEntry(run.central.store, run.workflow.node_id);
    return {};
  });
}
