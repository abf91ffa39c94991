import type { CentralContext } from '../context.ts';
import { recordEvent } from '../events.ts';
import { workflowTopic } from '../signals.ts';
import { type AgentIdentity, identityName } from './identity.ts';
import { handedTo } from './operations.ts';
import type { ReportedProgress } from './reportSchema.ts';

/** Keeps the newest progress of a running operation, and tells it as the one progress event of that operation. */
export async function recordProgress(
  { store, signals }: CentralContext,
  agent: AgentIdentity,
  progress: ReportedProgress,
): Promise<void> {
  const operation = await store
    .selectFrom('operations')
    .select(['workflow_id', 'step_id', 'node_id', 'outcome'])
    .where('operation_id', '=', progress.operationId)
    .where(handedTo(agent))
    .executeTakeFirst();
  if (operation === undefined || operation.outcome !== null) return;
  const eventId = `progress/${progress.operationId}`;
  await store.transaction().execute(async (queries) => {
    await queries
      .updateTable('operations')
      .set({ progress: JSON.stringify(progress) })
      .where('operation_id', '=', progress.operationId)
      .execute();
    await queries.deleteFrom('events').where('event_id', '=', eventId).execute();
    await recordEvent(queries, {
      type: 'operation.progress',
      text: progress.phase,
      cause: identityName(agent),
      eventId,
      nodeId: operation.node_id,
      workflowId: operation.workflow_id,
      stepId: operation.step_id,
      data: progress,
    });
  });
  signals.notify(workflowTopic(operation.workflow_id));
}
