import { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import type { DiskHints } from '#contract/steps.ts';
import type { ApiContext } from '../api/method.ts';
import type { Caller } from '../api/tokens.ts';
import { isDuplicate, now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { planWorkflow } from './plan.ts';
import { insertWorkflow } from './records.ts';

/** A run of `profile` on `node`, asked for by `caller`. */
export interface WorkflowRequest {
  node: Row<'nodes'>;
  profile: Profile;
  profileTenantId: string;
  disk?: DiskHints | undefined;
  caller: Caller;
}

/**
 * Stores a workflow and sets it going.
 * @throws RailheadError CONFLICT while another workflow runs on the node; what `planWorkflow` refuses
 */
export async function startWorkflow(
  { store, engine }: ApiContext,
  { node, profile, profileTenantId, disk, caller }: WorkflowRequest,
): Promise<{ workflowId: string }> {
  const plan = planWorkflow(profile);
  const createdBy = `token ${caller.tokenId}`;
  try {
    const workflowId = await store.transaction().execute(async (queries) => {
      const created = await insertWorkflow(queries, {
        node,
        profile,
        profileTenantId,
        plan,
        disk,
        createdBy,
      });
      if (profile.image !== undefined) await markDeploying(queries, node, profile, profileTenantId);
      return created;
    });
    engine.run(workflowId);
    return { workflowId };
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = `a workflow runs on node ${node.node_id}: wait for it or cancel it`;
    throw new RailheadError('CONFLICT', message, { path: 'nodeId', reason: 'workflow-running' }, error);
  }
}

/** From its first use on, a profile's version does not change any more. */
async function markDeploying(
  queries: Queries,
  node: Row<'nodes'>,
  profile: Profile,
  profileTenantId: string,
): Promise<void> {
  await queries
    .updateTable('nodes')
    .set({ state: 'deploying' })
    .where('node_id', '=', node.node_id)
    .execute();
  await queries
    .updateTable('profiles')
    .set({ used_at: now() })
    .where('tenant_id', '=', profileTenantId)
    .where('profile_id', '=', profile.id)
    .where('version', '=', profile.version)
    .where('used_at', 'is', null)
    .execute();
}
