import { newId } from '#contract/ids.ts';
import { recordEvent } from '../events.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** Notes that the OS of a node has joined by a token, in the timeline of the workflow that provisioned it. */
export async function recordNodeJoin(queries: Queries, token: Row<'join_tokens'>): Promise<void> {
  const at = now();
  await queries
    .insertInto('node_joins')
    .values({
      join_id: newId('ev'),
      node_id: token.node_id,
      role: 'node',
      boot_id: null,
      signing_key: null,
      sealing_key: null,
      trust: null,
      at,
      received_at: at,
      lost_at: null,
      lost_reason: null,
    })
    .execute();
  await recordEvent(queries, {
    type: 'agent.joined',
    text: 'the OS joined',
    cause: `node ${token.node_id}`,
    nodeId: token.node_id,
    workflowId: token.workflow_id ?? undefined,
    data: { role: 'node', joinTokenId: token.token_id },
  });
}
