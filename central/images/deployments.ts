import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** A machine that was given an image: its disk has it or had begun to get it, or it was its medium. */
export interface DeployedNode {
  nodeId: string;
  tenantId: string;
  siteId: string;
  ref: string;
  state: UseState;
  at: string;
}

/** A machine, and the workflow that gives it an image. */
export interface UsePlace {
  nodeId: string;
  workflowId: string;
}

type UseState = Row<'node_images'>['state'];

/**
 * Which image was given to which machine? It is noted before the machine is told of it. Until a write has succeeded what was there
 * before stands beside it: the write may never have begun. What was mounted stays on record, for the machine may run what it
 * installed from there.
 */
export async function noteUse(
  queries: Queries,
  place: UsePlace,
  image: Pick<Row<'images'>, 'sha256' | 'ref' | 'image_id'>,
  state: Exclude<UseState, 'deployed'>,
): Promise<void> {
  const facts = {
    ref: image.ref,
    image_id: image.image_id,
    workflow_id: place.workflowId,
    state,
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

/** The machine has written the whole image: whatever was on the disk before is gone. A medium of this workflow may still be in. */
export async function noteDeployed(
  queries: Queries,
  { nodeId, workflowId }: UsePlace,
  sha256: string,
): Promise<void> {
  await queries
    .deleteFrom('node_images')
    .where('node_id', '=', nodeId)
    .where('sha256', '!=', sha256)
    .where((where) => where.or([where('state', '!=', 'mounted'), where('workflow_id', '!=', workflowId)]))
    .execute();
  await queries
    .updateTable('node_images')
    .set({ state: 'deployed', at: now() })
    .where('node_id', '=', nodeId)
    .where('sha256', '=', sha256)
    .execute();
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

/** Asks for the end of whatever the workflows do that have given this digest to a machine; their cleanup goes on. */
export async function abandonUses(queries: Queries, sha256: string): Promise<void> {
  const using = queries.selectFrom('node_images').select('workflow_id').where('sha256', '=', sha256);
  const cleanup = queries
    .selectFrom('workflow_steps')
    .select('step_id')
    .where('workflow_id', 'in', using)
    .where('phase', '=', 'cleanup');
  await queries
    .updateTable('operations')
    .set({ cancel_requested_at: now() })
    .where('workflow_id', 'in', using)
    .where('step_id', 'not in', cleanup)
    .where('outcome', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .execute();
}
