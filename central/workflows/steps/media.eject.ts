import { dropIsoEntry } from '../../bootEntries.ts';
import { unpinImages } from '../../siteCaches/locations.ts';
import { underClaim } from '../claims.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Takes the medium out; where the machine boots it by `sanboot` instead, removes its boot entry. */
export function ejectMedia(run: StepRun): Promise<StepResult> {
  const { central, workflow } = run;
  return relay(run, 'media.eject', async () => {
    await underClaim(central.store, workflow, async (queries) => {
      await dropIsoEntry(queries, workflow.node_id);
      await unpinImages(queries, workflow.workflow_id);
    });
    return {};
  });
}
