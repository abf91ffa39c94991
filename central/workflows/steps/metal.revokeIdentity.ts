import { hasCode } from '#contract/errors.ts';
import { revokeAgent } from '../../join/revoke.ts';
import { now } from '../../store/store.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Whatever was given to the machine's OS to join by opens nothing any more: certificates, the key it renews by, unused join tokens. */
export async function revokeIdentity({ central, workflow }: StepRun): Promise<StepResult> {
  const { node_id: id, workflow_id: workflowId } = workflow;
  const { numUpdatedRows } = await central.store
    .updateTable('join_tokens')
    .set({ revoked_at: now() })
    .where('role', '=', 'node')
    .where('node_id', '=', id)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  const joinTokens = Number(numUpdatedRows);
  try {
    const reason = { why: 'the node is retired', by: `workflow ${workflowId}` };
    return { joinTokens, ...(await revokeAgent(central.store, { role: 'node', id }, reason)) };
  } catch (error) {
    // It never joined, or was revoked before: by an operator, or by this step before a crash.
    if (hasCode(error, 'NOT_FOUND') || hasCode(error, 'INVALID_STATE'))
      return { joinTokens, certificates: 0 };
    throw error;
  }
}
