import { now, type Queries, type Store } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** A machine whose disk has an image, or had begun to get it. */
export interface DeployedNode {
  nodeId: string;
  tenantId: string;
  siteId: string;
  ref: string;
  state: 'writing' | 'deployed';
  at: string;
}

/**
 * Which image is on which machine's disk? A write is noted before the machine is told of it, and until it has succeeded
 * what was there before stands beside it: the write may never have begun.
 */
export async function noteWriting(
  queries: Queries,
  place: { nodeId: string; workflowId: string },
  image: Pick<Row<'images'>, 'sha256' | 'ref' | 'image_id'>,
): Promise<void> {
  const facts = {
    ref: image.ref,
    image_id: image.image_id,
    workflow_id: place.workflowId,
    state: 'writing' as const,
    at: now(),
  };
  await queries
    .insertInto('node_images')
    .values({ node_id: place.nodeId, sha256: image.sha256, ...facts })
    .onConflict((conflict) =>
      // The machine may still run the same image from before, should the write not begin.
      conflict.columns(['node_id', 'sha256']).doUpdateSet({ workflow_id: place.workflowId, at: facts.at }),
    )
    .execute();
}

/** The machine has written the whole image: whatever was on the disk before is gone. */
export async function noteDeployed(store: Store, nodeId: string, sha256: string): Promise<void> {
  await store.transaction().execute(async (queries) => {
    await queries
      .deleteFrom('node_images')
      .where('node_id', '=', nodeId)
      .where('sha256', '!=', sha256)
      .execute();
    await queries
      .updateTable('node_images')
      .set({ state: 'deployed', at: now() })
      .where('node_id', '=', nodeId)
      .where('sha256', '=', sha256)
      .execute();
  });
}

/** The disk was wiped: the machine has no image any more. */
export async function forgetDeployed(queries: Queries, nodeId: string): Promise<void> {
  await queries.deleteFrom('node_images').where('node_id', '=', nodeId).execute();
}

/** The machines whose disk has an image of this digest, or had begun to get it. */
export function nodesWith(queries: Queries, sha256: string): Promise<DeployedNode[]> {
  return queries
    .selectFrom('node_images')
    .innerJoin('nodes', 'nodes.node_id', 'node_images.node_id')
    .select([
      'nodes.node_id as nodeId',
      'nodes.tenant_id as tenantId',
      'nodes.site_id as siteId',
      'node_images.ref',
      'node_images.state',
      'node_images.at',
    ])
    .where('node_images.sha256', '=', sha256)
    .orderBy('nodes.node_id')
    .execute();
}

/** What is on one machine's disk. */
export function imagesOn(queries: Queries, nodeId: string): Promise<Row<'node_images'>[]> {
  return queries.selectFrom('node_images').selectAll().where('node_id', '=', nodeId).orderBy('at').execute();
}

/** Asks for the end of every write of this digest that has not ended. */
export async function cancelWrites(queries: Queries, sha256: string): Promise<void> {
  const writing = queries.selectFrom('node_images').select('workflow_id').where('sha256', '=', sha256);
  await queries
    .updateTable('operations')
    .set({ cancel_requested_at: now() })
    .where('action', '=', 'deploy.image')
    .where('workflow_id', 'in', writing)
    .where('outcome', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .execute();
}
