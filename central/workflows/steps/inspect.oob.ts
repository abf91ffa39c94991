import { Value } from 'typebox/value';
import { OobInventory } from '#contract/oobInventory.ts';
import { noteSecureBoot } from '../../metal/loader.ts';
import { underClaim } from '../claims.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Has the BMC say which machine it is, and whether Secure Boot is on. */
export async function inspectOob(run: StepRun): Promise<StepResult> {
  const result = await relay(run, 'inspect.oob', async () => ({}));
  if (Value.Check(OobInventory, result)) {
    const { secureBoot } = result.system;
    const { node_id: nodeId } = run.workflow;
    await underClaim(run.central.store, run.workflow, (queries) =>
      noteSecureBoot(queries, nodeId, secureBoot),
    );
  }
  return result;
}
