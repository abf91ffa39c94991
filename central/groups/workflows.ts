import Type from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { idPattern } from '#contract/ids.ts';
import { TenantId } from '#contract/images.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { itemScopes, tenantScopes } from '../api/grants.ts';
import { type ApiContext, type Group, method } from '../api/method.ts';
import type { Caller } from '../api/tokens.ts';
import type { CentralContext } from '../context.ts';
import { afterCursor, cursorAfter, eventsAfter, presentEvent } from '../eventPages.ts';
import { recordEvent, takeLine } from '../events.ts';
import { workflowTopic } from '../signals.ts';
import { now, type Queries } from '../store/store.ts';
import { presentWorkflow, summarizeWorkflow } from '../workflows/present.ts';
import { findWorkflow, type WorkflowRow } from '../workflows/records.ts';

const closed = { additionalProperties: false };
const WorkflowId = Type.String({ maxLength: 56, pattern: idPattern('wf') });
const OneWorkflow = Type.Object({ tenantId: TenantId, workflowId: WorkflowId }, closed);
const WorkflowList = Type.Object(
  { tenantId: TenantId, nodeId: Type.Optional(Type.String({ maxLength: 128 })), ...pageFields },
  closed,
);
const WorkflowEvents = Type.Object(
  {
    tenantId: TenantId,
    workflowId: WorkflowId,
    ...pageFields,
    /** How long to wait for the first new event when there is none. */
    waitSeconds: Type.Number({ minimum: 0, maximum: 60, default: 0 }),
  },
  closed,
);

/** The runs of profiles on machines. */
export const workflows: Group = {
  get: method({
    kind: 'read',
    action: 'compute:workflows:read',
    input: OneWorkflow,
    scopes: ({ tenantId, workflowId }) => itemScopes('compute-workflow', workflowId, tenantId),
    run: async ({ store }, { tenantId, workflowId }) =>
      presentWorkflow(store, await requireWorkflow(store, tenantId, workflowId)),
  }),
  list: method({
    kind: 'read',
    action: 'compute:workflows:read',
    input: WorkflowList,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    items: 'compute-workflow',
    run: ({ store }, input, { only }) => list(store, input, only),
  }),
  cancel: method({
    kind: 'mutation',
    action: 'compute:workflows:cancel',
    input: OneWorkflow,
    scopes: ({ tenantId, workflowId }) => itemScopes('compute-workflow', workflowId, tenantId),
    run: async (context, { tenantId, workflowId }, caller) => {
      await cancel(context, await requireWorkflow(context.store, tenantId, workflowId), caller);
      return presentWorkflow(context.store, await requireWorkflow(context.store, tenantId, workflowId));
    },
  }),
  events: method({
    kind: 'read',
    action: 'compute:workflows:read',
    input: WorkflowEvents,
    scopes: ({ tenantId, workflowId }) => itemScopes('compute-workflow', workflowId, tenantId),
    waits: true,
    run: (context, input, _caller, stop) => events(context, input, stop),
  }),
};

async function requireWorkflow(store: Queries, tenantId: string, workflowId: string): Promise<WorkflowRow> {
  const workflow = await findWorkflow(store, workflowId);
  if (workflow === undefined || workflow.tenant_id !== tenantId)
    throw new RailheadError('NOT_FOUND', `tenant ${tenantId} has no workflow ${workflowId}`, { workflowId });
  return workflow;
}

async function list(
  store: Queries,
  { tenantId, nodeId, limit, cursor }: Type.Static<typeof WorkflowList>,
  only: readonly string[] | undefined,
) {
  let query = store
    .selectFrom('workflows')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('workflow_id', 'desc')
    .limit(limit + 1);
  if (nodeId !== undefined) query = query.where('node_id', '=', nodeId);
  if (only !== undefined) query = query.where('workflow_id', 'in', only);
  if (cursor !== undefined) query = query.where('workflow_id', '<', decodeCursor(cursor, 'string')[0]);
  return pageOf(await query.execute(), limit, (row) => [row.workflow_id], summarizeWorkflow);
}

/** Cancelling twice changes nothing; a workflow that has ended cannot be cancelled. */
async function cancel(
  { store, signals, engine }: ApiContext,
  workflow: WorkflowRow,
  caller: Caller,
): Promise<void> {
  if (workflow.state !== 'running')
    throw new RailheadError('INVALID_STATE', `this workflow has ended: it ${workflow.state}`, {
      reason: workflow.state,
    });
  const { workflow_id: workflowId, node_id: nodeId } = workflow;
  if (workflow.cancel_requested_at === null) {
    const cause = `token ${caller.tokenId}`;
    await store.transaction().execute(async (queries) => {
      await takeLine(queries, nodeId);
      await queries
        .updateTable('workflows')
        .set({ cancel_requested_at: now(), cancelled_by: cause })
        .where('workflow_id', '=', workflowId)
        .execute();
      await recordEvent(queries, {
        type: 'workflow.cancel-requested',
        text: 'cancel',
        cause,
        workflowId,
        nodeId,
      });
    });
  }
  engine.cancel(workflowId);
  signals.notify(workflowTopic(workflowId));
}

/** A page of a workflow's events. Its `cursor` is always there: with it the next call goes on, or waits for more. */
async function events(
  { store, signals }: CentralContext,
  input: Type.Static<typeof WorkflowEvents>,
  stop: AbortSignal,
) {
  const { tenantId, workflowId, limit, cursor, waitSeconds } = input;
  const workflow = await requireWorkflow(store, tenantId, workflowId);
  const after = cursor === undefined ? 0 : afterCursor(cursor);
  const patience = AbortSignal.any([stop, AbortSignal.timeout(Math.ceil(waitSeconds * 1000))]);
  const newer = async () => {
    const rows = await eventsAfter(store, { workflowId }, after, limit);
    return rows.length > 0 || workflow.state !== 'running' || waitSeconds === 0 ? rows : undefined;
  };
  const rows = (await signals.until([workflowTopic(workflowId)], newer, patience)) ?? [];
  const { state } = await requireWorkflow(store, tenantId, workflowId);
  return { items: rows.map(presentEvent), cursor: cursorAfter(rows, after), state };
}
