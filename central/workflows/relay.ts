import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';
import type { OperationAction, OperationInput, SealedSecret } from '#contract/operations.ts';
import type { Addressee } from '../agents/addressees.ts';
import { findOperation, queueOperation, queueTopic, requestCancel } from '../agents/operations.ts';
import { refuseWithdrawnUse } from '../images/withdrawnUse.ts';
import { allSites, nodeTopic, operationTopic } from '../signals.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { underClaim } from './claims.ts';
import { CentreStopping, StepCancelled, type StepResult, type StepRun, waitFor } from './stepRun.ts';

/**
 * Hands an operation to the site, or to the agent of the machine that `to` names, and waits for its end. One attempt has one operation: after
 * a crash the same one is waited for, so that whoever has it, and knows its id, never acts twice.
 * @throws RailheadError what the operation failed with; DRIVER_ERROR reason `unknown-outcome` when nobody knows
 */
export async function relay<Action extends OperationAction>(
  run: StepRun,
  action: Action,
  makeInput: () => Promise<OperationInput<Action>>,
  to?: Addressee,
  extras?: OperationExtras,
): Promise<StepResult> {
  const operationId = await beginOperation(run, action, makeInput, to, extras);
  return abandoning(run, operationId, async () => {
    // A new join of the node ends what its former agent was asked.
    const topics = [...endTopics(operationId), nodeTopic(run.workflow.node_id)];
    const operation = await waitFor(run, topics, () => endedOperation(run, operationId));
    if (operation.outcome !== 'succeeded') throw operationError(operation);
    return operation.result === null ? {} : (JSON.parse(operation.result) as StepResult);
  });
}

/** What goes with an operation. */
export interface OperationExtras {
  /** What `makeInput` has sealed to the ramdisk. */
  secrets?: readonly SealedSecret[];
  /** What goes into the books in the transaction that queues it; what it throws ends the step instead. */
  noting?: (queries: Queries) => Promise<void>;
}

/** Whether this attempt has handed out any operation before a crash. */
export async function hasOperations({ central, stepId, attempt }: StepRun): Promise<boolean> {
  const begun = await central.store
    .selectFrom('operations')
    .select('operation_id')
    .where('step_id', '=', stepId)
    .where('attempt', '=', attempt)
    .executeTakeFirst();
  return begun !== undefined;
}

/** The operation of this attempt: the one that was queued before a crash, else a new one. */
export async function beginOperation<Action extends OperationAction>(
  run: StepRun,
  action: Action,
  makeInput: () => Promise<OperationInput<Action>>,
  to?: Addressee,
  { secrets = [], noting }: OperationExtras = {},
): Promise<string> {
  const { central, workflow, step, stepId, attempt, part = '', deadline } = run;
  const existing = await findOperation(central.store, stepId, attempt, part);
  if (existing !== undefined) return existing.operation_id;
  run.stop.throwIfAborted();
  const place = { siteId: workflow.site_id, nodeId: workflow.node_id, workflowId: workflow.workflow_id };
  const input = await makeInput();
  const task = {
    ...place,
    stepId,
    attempt,
    part,
    action,
    input,
    expiresAt: deadline,
    ...(to !== undefined && { to }),
    secrets,
    noting: async (queries: Queries) => {
      await noting?.(queries);
      if (step.phase === 'main') await refuseWithdrawnUse(queries, workflow.workflow_id);
    },
  };
  const queued = await underClaim(central.store, workflow, (queries) =>
    queueOperation(central, queries, task),
  );
  central.signals.notify(queueTopic(queued));
  return queued.operation_id;
}

/** Runs `work`; when that is interrupted, asks for the operation to be abandoned, and on a cancel gives it time to end. */
export async function abandoning<Value>(
  run: StepRun,
  operationId: string,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!run.stop.aborted || error instanceof CentreStopping) throw error;
    const { store, signals } = run.central;
    const asked = await underClaim(store, run.workflow, (queries) => requestCancel(queries, operationId));
    if (asked !== undefined) signals.notify(queueTopic(asked), operationTopic(operationId));
    if (error instanceof StepCancelled) await graceToEnd(run, operationId);
    throw error;
  }
}

async function graceToEnd(run: StepRun, operationId: string): Promise<void> {
  const { signals, store, times } = run.central;
  const operation = await store
    .selectFrom('operations')
    .select('taken_at')
    .where('operation_id', '=', operationId)
    .executeTakeFirst();
  if (operation?.taken_at === null) return;
  const patience = AbortSignal.any([AbortSignal.timeout(times.cancelGraceMs), run.closing]);
  await signals.until([operationTopic(operationId)], () => endedOperation(run, operationId), patience);
  if (run.closing.aborted) throw run.closing.reason;
}

/** When to look whether an operation has ended: after its own news, and after commands of the host, which may withdraw its image. */
export function endTopics(operationId: string): string[] {
  return [operationTopic(operationId), allSites];
}

/**
 * An operation that has ended.
 * @throws RailheadError INVALID_STATE, reason `cancelled`, for one that was called off before its site had taken it: nobody will
 *   report its end
 */
export async function endedOperation(
  run: StepRun,
  operationId: string,
): Promise<Row<'operations'> | undefined> {
  const operation = await run.central.store
    .selectFrom('operations')
    .selectAll()
    .where('operation_id', '=', operationId)
    .executeTakeFirst();
  if (operation === undefined) return undefined;
  if (operation.outcome !== null) return operation;
  if (operation.cancel_requested_at === null || operation.taken_at !== null) return undefined;
  const message = `${operation.action} was called off before the site took it`;
  throw new RailheadError('INVALID_STATE', message, { reason: 'cancelled', operationId });
}

/** Why an operation did not succeed. One that nobody knows the end of may be tried again, whatever the site says of it. */
export function operationError(operation: Row<'operations'>): RailheadError {
  const error = operation.error === null ? undefined : (JSON.parse(operation.error) as WireError);
  if (operation.outcome === 'failed' && error !== undefined) return fromWireError(error);
  const message = error?.message ?? `${operation.action} was interrupted and nobody knows what it did`;
  return new RailheadError('DRIVER_ERROR', message, { reason: 'unknown-outcome', ...error?.details });
}
