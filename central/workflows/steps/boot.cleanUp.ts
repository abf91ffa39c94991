import { dropEntry } from '../../bootEntries.ts';
import { underClaim } from '../claims.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Removes the machine's boot entry at its site: from then on it is told to boot its disk. */
export function cleanUp(run: StepRun): Promise<StepResult> {
  return relay(run, 'boot.cleanUp', async () => {
    const { central, workflow } = run;
    await underClaim(central.store, workflow, (queries) => dropEntry(queries, workflow.node_id));
    return {};
  });
}
