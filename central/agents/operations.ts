import type { ExpressionBuilder } from 'kysely';
import { signDocument } from '#base/jws.ts';
import { newId } from '#contract/ids.ts';
import type { Operation, OperationAction, OperationInput, SealedSecret } from '#contract/operations.ts';
import type { CentralContext } from '../context.ts';
import { nodeTopic, siteTopic } from '../signals.ts';
import { now, type Queries } from '../store/store.ts';
import type { NewRow, Row, Tables } from '../store/tables.ts';
import { type Addressee, machineOf } from './addressees.ts';
import type { AgentIdentity } from './identity.ts';

/** An operation to hand out, and the step attempt that it carries out. */
export interface NewOperation<Action extends OperationAction> {
  siteId: string;
  nodeId: string;
  workflowId: string;
  stepId: string;
  attempt: number;
  /** Which of several operations of this attempt; empty for the only one. */
  part: string;
  action: Action;
  input: OperationInput<Action>;
  expiresAt: string;
  /** The agent of the machine that it is for; without, the site carries it out. */
  to?: Addressee;
  /** What `input` refers to, sealed to that ramdisk. */
  secrets?: readonly SealedSecret[];
  /** What goes into the books together with it; what it throws keeps the operation from being queued. */
  noting?: (queries: Queries) => Promise<void>;
}

/** The operation of one step attempt, when it was handed out already: after a crash it is the same one. */
export function findOperation(
  store: Queries,
  stepId: string,
  attempt: number,
  part = '',
): Promise<Row<'operations'> | undefined> {
  return store
    .selectFrom('operations')
    .selectAll()
    .where('step_id', '=', stepId)
    .where('attempt', '=', attempt)
    .where('part', '=', part)
    .executeTakeFirst();
}

/**
 * Queues an operation for its site, or for the agent of an installed OS. What is for a machine is signed, so that a site can relay it but not
 * invent it, and addressed to the key of that agent.
 * Runs in a transaction of the caller's, who wakes `queueTopic` after it.
 * @throws RailheadError INVALID_STATE, reason `no-node`
 */
export async function queueOperation<Action extends OperationAction>(
  context: CentralContext,
  store: Queries,
  request: NewOperation<Action>,
): Promise<NewRow<'operations'>> {
  const { siteId, nodeId, workflowId, stepId, attempt, part, to } = request;
  const operation = await asHandedOut(context, store, request);
  const row = {
    operation_id: operation.operationId,
    ...{ site_id: siteId, node_id: nodeId, workflow_id: workflowId, step_id: stepId, attempt, part },
    target: operation.target,
    action: operation.action,
    sealed: context.sealer.seal(JSON.stringify(operation)),
    join_id: to?.target === 'ramdisk' ? to.joinId : null,
    created_at: now(),
    expires_at: operation.expiresAt,
  };
  await request.noting?.(store);
  await store.insertInto('operations').values(row).execute();
  return row;
}

async function asHandedOut<Action extends OperationAction>(
  { keys }: CentralContext,
  store: Queries,
  { nodeId, action, input, expiresAt, to, secrets = [] }: NewOperation<Action>,
): Promise<Operation> {
  const machine = to && (await machineOf(store, nodeId, to));
  const operation: Operation = {
    operationId: newId('op'),
    nodeId,
    ...(machine && { machine }),
    target: to?.target ?? 'site',
    action,
    input: input as Operation['input'],
    expiresAt,
  };
  const signed = to && { jws: await signDocument('railhead-operation', operation, keys.signing) };
  return { ...operation, ...signed, ...(secrets.length > 0 && { secrets: [...secrets] }) };
}

/** Notified when a queue has something new: the site's, which also has what is for its ramdisks, or that of an installed OS. */
export function queueTopic({
  site_id: siteId,
  node_id: nodeId,
  target,
}: Pick<Row<'operations'>, 'site_id' | 'node_id' | 'target'>): string {
  return target === 'node' ? nodeTopic(nodeId) : siteTopic(siteId);
}

/** Which operations are handed to an agent. */
export function handedTo({ role, id }: AgentIdentity) {
  return (where: ExpressionBuilder<Tables, 'operations'>) =>
    role === 'node'
      ? where.and([where('node_id', '=', id), where('target', '=', 'node')])
      : where.and([where('site_id', '=', id), where('target', '!=', 'node')]);
}

/** What an agent has not journaled yet and may still begin, oldest first. */
export async function waitingOperations(context: CentralContext, agent: AgentIdentity): Promise<Operation[]> {
  const rows = await context.store
    .selectFrom('operations')
    .select('sealed')
    .where(handedTo(agent))
    .where('outcome', 'is', null)
    .where('taken_at', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .where('expires_at', '>', now())
    .orderBy('operation_id')
    .execute();
  return rows.map((row) => JSON.parse(context.sealer.open(row.sealed)) as Operation);
}

/** Notes that an agent has journaled these. */
export async function markTaken(
  store: Queries,
  agent: AgentIdentity,
  taken: readonly string[],
): Promise<void> {
  if (taken.length === 0) return;
  await store
    .updateTable('operations')
    .set({ taken_at: now() })
    .where(handedTo(agent))
    .where('operation_id', 'in', taken)
    .where('taken_at', 'is', null)
    .execute();
}

/** What an agent is to know of operations that it has not ended yet; `fresh` when it was not told of one of them before. */
export interface OperationNotices {
  /** It is asked to abandon these. */
  cancelled: string[];
  /** An operator says that what these ask for is done. */
  confirmed: string[];
  fresh: boolean;
}

export async function operationNotices(store: Queries, agent: AgentIdentity): Promise<OperationNotices> {
  const rows = await store
    .selectFrom('operations')
    .select(['operation_id', 'cancel_requested_at', 'cancel_told_at', 'confirmed_at', 'confirm_told_at'])
    .where(handedTo(agent))
    .where('outcome', 'is', null)
    .where((where) =>
      where.or([where('cancel_requested_at', 'is not', null), where('confirmed_at', 'is not', null)]),
    )
    .where('expires_at', '>', now())
    .execute();
  const cancelled = rows.filter((row) => row.cancel_requested_at !== null);
  const confirmed = rows.filter((row) => row.confirmed_at !== null);
  return {
    cancelled: cancelled.map((row) => row.operation_id),
    confirmed: confirmed.map((row) => row.operation_id),
    fresh:
      cancelled.some((row) => row.cancel_told_at === null) ||
      confirmed.some((row) => row.confirm_told_at === null),
  };
}

export async function markNoticesTold(
  store: Queries,
  { cancelled, confirmed = [] }: { cancelled: readonly string[]; confirmed?: readonly string[] },
): Promise<void> {
  if (cancelled.length > 0)
    await store
      .updateTable('operations')
      .set({ cancel_told_at: now() })
      .where('operation_id', 'in', cancelled)
      .execute();
  if (confirmed.length > 0)
    await store
      .updateTable('operations')
      .set({ confirm_told_at: now() })
      .where('operation_id', 'in', confirmed)
      .execute();
}

/** Notes that an operation is to be abandoned where it can still be stopped; who calls wakes `queueTopic` then. Undefined when it has ended. */
export function requestCancel(
  store: Queries,
  operationId: string,
): Promise<Pick<Row<'operations'>, 'site_id' | 'node_id' | 'target'> | undefined> {
  return store
    .updateTable('operations')
    .set({ cancel_requested_at: now() })
    .where('operation_id', '=', operationId)
    .where('outcome', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .returning(['site_id', 'node_id', 'target'])
    .executeTakeFirst();
}
