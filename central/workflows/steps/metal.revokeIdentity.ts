import { hasCode } from '#contract/errors.ts';
import { revokeJoinTokens } from '../../join/joinTokens.ts';
import { revokeWithin } from '../../join/revoke.ts';
import { underClaim } from '../claims.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/** Whatever was given to the machine's OS to join by opens nothing any more: certificates, the key it renews by, join tokens. */
export function revokeIdentity({ central, workflow }: StepRun): Promise<StepResult> {
  const { node_id: id, workflow_id: workflowId } = workflow;
  const identity = { role: 'node', id } as const;
  const reason = { why: 'the node is retired', by: `workflow ${workflowId}` };
  return underClaim(central.store, workflow, async (queries) => {
    const joinTokens = await revokeJoinTokens(queries, identity);
    try {
      return { joinTokens, ...(await revokeWithin(queries, identity, reason)) };
    } catch (error) {
      // It never joined, or was revoked before: by an operator, or by this step before a crash.
      if (hasCode(error, 'NOT_FOUND') || hasCode(error, 'INVALID_STATE'))
        return { joinTokens, certificates: 0 };
      throw error;
    }
  });
}
