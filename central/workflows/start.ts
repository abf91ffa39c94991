import { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import type { DiskHints } from '#contract/steps.ts';
import type { ApiContext } from '../api/method.ts';
import type { Caller } from '../api/tokens.ts';
import { takeLine } from '../events.ts';
import { type MetalMethod, type Settlement, settlementOf } from '../metal/states.ts';
import { builtinTenant } from '../profiles/builtin.ts';
import { isDuplicate, now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { planWorkflow } from './plan.ts';
import { insertWorkflow } from './records.ts';

/** A run of `profile` on `node`, asked for by `caller`. */
export interface WorkflowRequest {
  node: Row<'nodes'>;
  profile: Profile;
  /** The stored row that the profile was read from; undefined for one that ships. */
  profileRow?: Row<'profiles'> | undefined;
  /** The method of metal that it is for; without one it leaves the node's state alone. */
  method?: MetalMethod;
  disk?: DiskHints | undefined;
  caller: Caller;
}

/**
 * Stores a workflow and sets it going.
 * @throws RailheadError CONFLICT while another workflow runs on the node, INVALID_STATE when the method does not begin in the
 *   node's state or the profile was changed since it was read; what `planWorkflow` refuses
 */
export async function startWorkflow(
  { store, engine }: ApiContext,
  { node, profile, profileRow, method, disk, caller }: WorkflowRequest,
): Promise<{ workflowId: string }> {
  const plan = planWorkflow(profile);
  const createdBy = `token ${caller.tokenId}`;
  try {
    const workflowId = await store.transaction().execute(async (queries) => {
      await takeLine(queries, node.node_id);
      const settles = method === undefined ? undefined : await beginMethod(queries, node, method);
      if (profileRow !== undefined) await markUsed(queries, profileRow);
      const profileTenantId = profileRow?.tenant_id ?? builtinTenant;
      return insertWorkflow(queries, { node, profile, profileTenantId, plan, disk, settles, createdBy });
    });
    engine.run(workflowId);
    return { workflowId };
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw workflowRunning(node.node_id, error);
  }
}

/** Takes the node into the state that lasts as long as the method's workflow, from the state that it is in now. */
async function beginMethod(
  queries: Queries,
  { node_id: nodeId }: Row<'nodes'>,
  method: MetalMethod,
): Promise<Settlement> {
  const node = await queries
    .selectFrom('nodes')
    .selectAll()
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const busy = await queries
    .selectFrom('workflows')
    .select('workflow_id')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'running')
    .executeTakeFirst();
  if (busy !== undefined) throw workflowRunning(nodeId);
  const settlement = settlementOf(method, node.state, node.failed_from);
  await queries
    .updateTable('nodes')
    .set({ state: settlement.during })
    .where('node_id', '=', nodeId)
    .execute();
  return settlement;
}

/**
 * From its first use on, a profile's version does not change any more.
 * @throws RailheadError CONFLICT when it was changed or deleted since it was read: what is kept would not be what runs
 */
async function markUsed(queries: Queries, row: Row<'profiles'>): Promise<void> {
  const { numUpdatedRows } = await queries
    .updateTable('profiles')
    .set(({ fn, val }) => ({ used_at: fn.coalesce('used_at', val(now())) }))
    .where('tenant_id', '=', row.tenant_id)
    .where('profile_id', '=', row.profile_id)
    .where('version', '=', row.version)
    .where('row_version', '=', row.row_version)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) return;
  const message = `profile ${row.profile_id}@${row.version} was changed or deleted just now: start again`;
  throw new RailheadError('CONFLICT', message, { path: 'profileId', reason: 'row-version' });
}

/** That something has to wait for the workflow that runs on a node. */
export function workflowRunning(nodeId: string, cause?: unknown): RailheadError {
  const message = `a workflow runs on node ${nodeId}: wait for it or cancel it`;
  return new RailheadError('CONFLICT', message, { path: 'nodeId', reason: 'workflow-running' }, cause);
}
