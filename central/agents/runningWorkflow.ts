import type { Queries } from '../store/store.ts';

/** The workflow that runs on a node now, in whose timeline belongs what happens to it. */
export async function runningWorkflow(store: Queries, nodeId: string): Promise<string | undefined> {
  const workflow = await store
    .selectFrom('workflows')
    .select('workflow_id')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return workflow?.workflow_id;
}
