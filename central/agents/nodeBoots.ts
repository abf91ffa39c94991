import type { CentralContext } from '../context.ts';
import { insertNodeJoin } from '../join/nodeJoin.ts';
import { nodeTopic } from '../signals.ts';
import type { Queries } from '../store/store.ts';
import { runningWorkflow } from './runningWorkflow.ts';

/**
 * Notes that the agent of an installed OS runs in a boot that was not heard of before: it has its identity, so it does not join anew
 * after a restart, and who restarted it waits for this.
 */
export async function noteNodeBoot(
  { store, signals }: CentralContext,
  nodeId: string,
  bootId: string,
): Promise<void> {
  if ((await newestBoot(store, nodeId)) === bootId) return;
  await store.transaction().execute(async (queries) => {
    const workflowId = await runningWorkflow(queries, nodeId);
    await insertNodeJoin(queries, {
      nodeId,
      bootId,
      workflowId,
      text: `the OS runs, boot ${bootId}`,
      data: { role: 'node', bootId },
    });
  });
  signals.notify(nodeTopic(nodeId));
}

async function newestBoot(store: Queries, nodeId: string): Promise<string | null | undefined> {
  const join = await store
    .selectFrom('node_joins')
    .select('boot_id')
    .where('node_id', '=', nodeId)
    .where('role', '=', 'node')
    .orderBy('at', 'desc')
    .orderBy('join_id', 'desc')
    .executeTakeFirst();
  return join?.boot_id;
}
