import { toWireError, type WireError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import type { Profile } from '#contract/profiles.ts';
import type { DiskHints } from '#contract/steps.ts';
import { recordEvent, takeLine } from '../events.ts';
import { withdrawnUse } from '../images/withdrawnUse.ts';
import { settleNode } from '../metal/settle.ts';
import type { Settlement } from '../metal/states.ts';
import { unpinImages } from '../siteCaches/locations.ts';
import { now, type Queries, type Store, toJson } from '../store/store.ts';
import type { NewRow, Row } from '../store/tables.ts';
import { type Claim, underClaim } from './claims.ts';
import type { PlannedStep } from './plan.ts';

export type WorkflowRow = Row<'workflows'>;
export type StepRow = Row<'workflow_steps'>;
/** A workflow that this centre runs, with its claim on it. */
export type ClaimedWorkflow = WorkflowRow & Claim;

/** A workflow to start: one run of a profile on one node. */
export interface NewWorkflow {
  node: Row<'nodes'>;
  profile: Profile;
  profileTenantId: string;
  plan: readonly PlannedStep[];
  disk?: DiskHints | undefined;
  settles?: Settlement | undefined;
  createdBy: string;
}

/** Stores a workflow with all its steps. The database refuses a second running one on the same node. */
export async function insertWorkflow(queries: Queries, request: NewWorkflow): Promise<string> {
  const { node, profile, plan, createdBy } = request;
  const workflowId = newId('wf');
  await queries
    .insertInto('workflows')
    .values({
      workflow_id: workflowId,
      tenant_id: node.tenant_id,
      node_id: node.node_id,
      site_id: node.site_id,
      profile: JSON.stringify(profile),
      profile_tenant_id: request.profileTenantId,
      disk: toJson(request.disk),
      settles: toJson(request.settles),
      state: 'running',
      created_by: createdBy,
      created_at: now(),
    })
    .execute();
  for (const [position, step] of plan.entries())
    await queries
      .insertInto('workflow_steps')
      .values(newStep(workflowId, position, step))
      .execute();
  const text = `${profile.id}@${profile.version} on ${node.node_id}`;
  await recordEvent(queries, {
    type: 'workflow.created',
    text,
    cause: createdBy,
    workflowId,
    nodeId: node.node_id,
  });
  return workflowId;
}

function newStep(workflowId: string, position: number, step: PlannedStep): NewRow<'workflow_steps'> {
  const { phase } = step;
  const key = { workflow_id: workflowId, position, step_id: newId('step') };
  return { ...key, phase, step: JSON.stringify(step), state: 'pending' };
}

export function findWorkflow(queries: Queries, workflowId: string): Promise<WorkflowRow | undefined> {
  return queries.selectFrom('workflows').selectAll().where('workflow_id', '=', workflowId).executeTakeFirst();
}

/** A workflow's steps in their order. */
export function stepsOf(queries: Queries, workflowId: string): Promise<StepRow[]> {
  return queries
    .selectFrom('workflow_steps')
    .selectAll()
    .where('workflow_id', '=', workflowId)
    .orderBy('position')
    .execute();
}

/** What a step becomes, and the event that says so. */
export interface StepChange {
  set: Partial<Omit<StepRow, 'workflow_id' | 'position' | 'step_id'>>;
  event: string;
  text?: string;
  data?: unknown;
}

/**
 * Changes a step and records the event in one transaction.
 * @throws ClaimLost when another centre has taken the workflow over
 */
export async function changeStep(
  store: Store,
  workflow: ClaimedWorkflow,
  step: StepRow,
  change: StepChange,
): Promise<void> {
  const { use } = JSON.parse(step.step) as PlannedStep;
  await underClaim(store, workflow, async (queries) => {
    await queries.updateTable('workflow_steps').set(change.set).where('step_id', '=', step.step_id).execute();
    await recordEvent(queries, {
      type: `step.${change.event}`,
      text: change.text === undefined ? use : `${use}: ${change.text}`,
      cause: 'engine',
      nodeId: workflow.node_id,
      workflowId: workflow.workflow_id,
      stepId: step.step_id,
      data: change.data,
    });
  });
}

/**
 * How a workflow ended, for good: its node takes the state that follows, and what was prepared for it is void. One that has given
 * its machine an image which was withdrawn meanwhile does not succeed.
 * @throws ClaimLost when another centre has taken the workflow over
 */
export async function finishWorkflow(
  store: Store,
  workflow: ClaimedWorkflow,
  outcome: 'succeeded' | 'failed' | 'cancelled',
  failure: WireError | undefined,
): Promise<void> {
  await underClaim(store, workflow, async (queries) => {
    await takeLine(queries, workflow.node_id);
    const withdrawn = outcome === 'succeeded' ? await withdrawnUse(queries, workflow.workflow_id) : undefined;
    const state = withdrawn === undefined ? outcome : 'failed';
    const error = withdrawn === undefined ? failure : toWireError(withdrawn);
    await queries
      .updateTable('workflows')
      .set({ state, error: toJson(error), finished_at: now() })
      .where('workflow_id', '=', workflow.workflow_id)
      .execute();
    await settleNode(queries, workflow, state, error);
    await voidPreparations(queries, workflow.workflow_id);
    await recordEvent(queries, {
      type: `workflow.${state}`,
      text: error?.message ?? state,
      cause: workflow.cancelled_by !== null && state === 'cancelled' ? workflow.cancelled_by : 'engine',
      nodeId: workflow.node_id,
      workflowId: workflow.workflow_id,
      data: error,
    });
  });
}

/** The rendered user data is needed no more, and an unused join token must not stay a way in. */
async function voidPreparations(queries: Queries, workflowId: string): Promise<void> {
  await queries
    .deleteFrom('secrets')
    .where('ref', 'like', `${userDataRefPrefix(workflowId)}%`)
    .execute();
  await unpinImages(queries, workflowId);
  await queries
    .updateTable('join_tokens')
    .set({ revoked_at: now() })
    .where('workflow_id', '=', workflowId)
    .where('used_at', 'is', null)
    .execute();
}

export function userDataRefPrefix(workflowId: string): string {
  return `secret://user-data/${workflowId}/`;
}
