import { dropIsoEntry } from '../../bootEntries.ts';
import { underClaim } from '../claims.ts';
import { dropIsoAtSite } from '../isoAtSite.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Takes the medium out; where the machine boots it by `sanboot` instead, removes its boot entry. */
export async function ejectMedia(run: StepRun): Promise<StepResult> {
  const { central, workflow } = run;
  const ejected = await relay(run, 'media.eject', async () => {
    await underClaim(central.store, workflow, (queries) => dropIsoEntry(queries, workflow.node_id));
    return {};
  });
  // What a BMC still reads stays in the cache.
  await underClaim(central.store, workflow, (queries) => dropIsoAtSite(queries, workflow));
  return ejected;
}
