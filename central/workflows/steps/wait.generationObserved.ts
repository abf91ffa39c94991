import { specProgress } from '../../agents/nodeSpec.ts';
import { nodeTopic } from '../../signals.ts';
import { type StepResult, type StepRun, waitFor } from '../stepRun.ts';

/** Waits until the node's agent has observed the generation that its desired state has now. */
export async function generationObserved(run: StepRun): Promise<StepResult> {
  const owner = { role: 'node', id: run.workflow.node_id } as const;
  return waitFor(run, [nodeTopic(owner.id)], async () => {
    const { generation, observedGeneration } = await specProgress(run.central, owner);
    return observedGeneration >= generation ? { generation, observedGeneration } : undefined;
  });
}
