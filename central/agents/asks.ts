import { RailheadError } from '#contract/errors.ts';
import { recordEvent } from '../events.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** Notes what the operation that a site carries out on a node asks an operator to do by hand; null: nothing any more. */
export async function noteAsked(queries: Queries, nodeId: string, asked: string | null): Promise<void> {
  await queries
    .updateTable('operations')
    .set({ asked })
    .where('node_id', '=', nodeId)
    .where('target', '=', 'site')
    .where('outcome', 'is', null)
    .execute();
}

/**
 * Takes an operator's word that what is asked of a node is done: its site is told by its next poll, whose topic the caller wakes. Said twice
 * it is once.
 * @throws RailheadError NOT_FOUND (`nothing-asked`)
 */
export async function confirmAsked(
  queries: Queries,
  nodeId: string,
  cause: string,
): Promise<Pick<Row<'operations'>, 'workflow_id' | 'asked'>> {
  const operation = await queries
    .selectFrom('operations')
    .select(['operation_id', 'workflow_id', 'step_id', 'asked', 'confirmed_at'])
    .where('node_id', '=', nodeId)
    .where('outcome', 'is', null)
    .where('asked', 'is not', null)
    // Of one that was called off or is over, whose site is away, nobody waits for the end.
    .where('cancel_requested_at', 'is', null)
    .where('expires_at', '>', now())
    .orderBy('operation_id', 'desc')
    .executeTakeFirst();
  if (operation === undefined) throw nothingAsked(nodeId);
  const { operation_id, workflow_id: workflowId, step_id: stepId, asked } = operation;
  if (operation.confirmed_at !== null) return operation;
  await queries
    .updateTable('operations')
    .set({ confirmed_at: now() })
    .where('operation_id', '=', operation_id)
    .execute();
  const text = `an operator says that it is done: ${asked}`;
  await recordEvent(queries, { type: 'operator.confirmed', text, cause, nodeId, workflowId, stepId });
  return operation;
}

function nothingAsked(nodeId: string): RailheadError {
  return new RailheadError('NOT_FOUND', `nobody is asked to do anything to ${nodeId}`, {
    path: 'nodeId',
    reason: 'nothing-asked',
  });
}
