import { holdHostChanges } from '../hostChanges.ts';
import { noteUse } from '../images/deployments.ts';
import { refuseWithdrawnUse } from '../images/withdrawnUse.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { StepCancelled, type StepResult, type StepRun } from './stepRun.ts';

/**
 * Runs a step of the main phase unless an image that its workflow has given to the machine is withdrawn: before, when the step
 * fails for that reason instead of running, or meanwhile, when it fails however it ended. The cleanup always runs.
 * @throws RailheadError INVALID_STATE, reason `withdrawn`; what `work` throws
 */
export async function unlessWithdrawn(
  { central, workflow, step, closing }: StepRun,
  work: () => Promise<StepResult>,
): Promise<StepResult> {
  if (step.phase === 'cleanup') return work();
  const refuse = () => refuseWithdrawnUse(central.store, workflow.workflow_id);
  await refuse();
  try {
    const result = await work();
    await refuse();
    return result;
  } catch (error) {
    if (!closing.aborted && !(error instanceof StepCancelled)) await refuse();
    throw error;
  }
}

/**
 * Notes, in the transaction that queues an operation, that it gives the machine this image: a withdrawal comes before, and refuses
 * the operation, or after, and finds it.
 */
export function noteGiven(
  { workflow }: StepRun,
  image: Row<'images'>,
  state: 'writing' | 'mounted',
): (queries: Queries) => Promise<void> {
  return async (queries) => {
    await holdHostChanges(queries);
    await noteUse(queries, { nodeId: workflow.node_id, workflowId: workflow.workflow_id }, image, state);
  };
}
