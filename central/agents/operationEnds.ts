import type { WireError } from '#contract/errors.ts';
import { acknowledgeAlarms } from '../alarms.ts';
import { settlePassword } from '../bmcPasswords/settle.ts';
import type { CentralContext } from '../context.ts';
import { recordEvent } from '../events.ts';
import { nodeTopic, operationTopic, siteTopic, workflowTopic } from '../signals.ts';
import { now, type Queries, toJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** How an operation ended, for good. */
export interface OperationEnd {
  outcome: 'succeeded' | 'failed' | 'unknown';
  result?: Record<string, unknown> | undefined;
  error?: WireError | undefined;
  finishedAt: string;
}

type Ended = Pick<
  Row<'operations'>,
  'operation_id' | 'workflow_id' | 'step_id' | 'site_id' | 'node_id' | 'action' | 'target'
>;

/** Ends an operation, once, and lets its workflow see it. */
export async function endOperation(
  { store, signals }: CentralContext,
  operation: Ended,
  end: OperationEnd,
  cause: string,
): Promise<void> {
  const { isOther } = await store
    .transaction()
    .execute((queries) => recordEnd(queries, operation, end, cause));
  signals.notify(operationTopic(operation.operation_id), workflowTopic(operation.workflow_id));
  if (isOther) signals.notify(siteTopic(operation.site_id), nodeTopic(operation.node_id));
}

/**
 * Ends what the agent of a node's OS was asked and has not told the end of: the key that it was addressed to counts no more. Who waits for it is
 * woken by whoever calls this.
 */
export async function endNodeOperations(
  queries: Queries,
  nodeId: string,
  reason: 'node-replaced' | 'node-revoked',
): Promise<void> {
  const open = await queries
    .selectFrom('operations')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('target', '=', 'node')
    .where('outcome', 'is', null)
    .execute();
  const why = reason === 'node-replaced' ? 'another agent joined as this node' : 'the node was revoked';
  for (const operation of open) {
    const message = `${why} while ${operation.action} waited for it: start a new try`;
    const error = { code: 'DRIVER_ERROR' as const, message, details: { reason, action: operation.action } };
    await recordEnd(queries, operation, { outcome: 'failed', error, finishedAt: now() }, 'centre');
  }
}

/** `isOther`: the desired state of the site, or of the node, is another one after it. */
async function recordEnd(
  queries: Queries,
  operation: Ended,
  end: OperationEnd,
  cause: string,
): Promise<{ isOther: boolean }> {
  const ended = await queries
    .updateTable('operations')
    .set({
      outcome: end.outcome,
      result: toJson(end.result),
      error: toJson(end.error),
      finished_at: end.finishedAt,
    })
    .where('operation_id', '=', operation.operation_id)
    .where('outcome', 'is', null)
    .returning('asked')
    .executeTakeFirst();
  if (ended === undefined) return { isOther: false };
  // A site that was killed while it asked does not say that nobody is asked any more.
  if (ended.asked !== null)
    await acknowledgeAlarms(queries, { nodeId: operation.node_id }, cause, 'operator-asked');
  await recordEvent(queries, {
    type: `operation.${end.outcome}`,
    text: end.error === undefined ? operation.action : `${operation.action}: ${end.error.message}`,
    cause,
    // A machine's clock may be years off: its events stand in the timeline where they arrived.
    ...(operation.target === 'site' && { at: end.finishedAt }),
    nodeId: operation.node_id,
    workflowId: operation.workflow_id,
    stepId: operation.step_id,
    data: { operationId: operation.operation_id, result: end.result, error: end.error },
  });
  return { isOther: await settlePassword(queries, operation, end) };
}
