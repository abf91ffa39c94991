import { newId } from '#contract/ids.ts';
import { recordEvent } from '../events.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** Notes that the OS of a node has joined by a token, in the timeline of the workflow that provisioned it. */
export async function recordNodeJoin(queries: Queries, token: Row<'join_tokens'>): Promise<void> {
  await insertNodeJoin(queries, {
    nodeId: token.node_id,
    workflowId: token.workflow_id ?? undefined,
    text: 'the OS joined',
    data: { role: 'node', joinTokenId: token.token_id },
  });
}

export interface NodeJoin {
  nodeId: string;
  /** The kernel's id of the boot; a join by a token does not tell it. */
  bootId?: string;
  workflowId: string | undefined;
  text: string;
  data: object;
}

/** Notes that the OS of a node is there, with its event. */
export async function insertNodeJoin(
  queries: Queries,
  { nodeId, bootId, workflowId, text, data }: NodeJoin,
): Promise<void> {
  const at = now();
  const ofRamdisk = { signing_key: null, sealing_key: null, trust: null, lost_at: null, lost_reason: null };
  await queries
    .insertInto('node_joins')
    .values({
      ...ofRamdisk,
      join_id: newId('ev'),
      node_id: nodeId,
      role: 'node',
      boot_id: bootId ?? null,
      at,
      received_at: at,
    })
    .execute();
  await recordEvent(queries, {
    type: 'agent.joined',
    text,
    cause: `node ${nodeId}`,
    nodeId,
    workflowId,
    data,
  });
}
