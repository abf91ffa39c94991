import type { Queries } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** A machine whose BMC reads its medium from the cache of its site. */
export interface CachedMedium {
  nodeId: string;
  siteId: string;
  imageId: string;
}

/** From now on the site is to hold what this machine's BMC is about to read, beside what that reads until then. */
export async function holdMedium(queries: Queries, { nodeId, siteId, imageId }: CachedMedium): Promise<void> {
  await queries
    .insertInto('cached_media')
    .values({ node_id: nodeId, site_id: siteId, image_id: imageId, mounted: 0 })
    .onConflict((conflict) => conflict.columns(['node_id', 'image_id']).doUpdateSet({ site_id: siteId }))
    .execute();
}

/** The machine's BMC reads this one now, and none of those before. */
export async function noteMounted(queries: Queries, nodeId: string, imageId: string): Promise<void> {
  const ofNode = queries.deleteFrom('cached_media').where('node_id', '=', nodeId);
  await ofNode.where('image_id', '!=', imageId).execute();
  await queries
    .updateTable('cached_media')
    .set({ mounted: 1 })
    .where('node_id', '=', nodeId)
    .where('image_id', '=', imageId)
    .execute();
}

/** What the machine's BMC did not take is not for it to read; what it read before stays. */
export async function dropUnmounted(queries: Queries, nodeId: string): Promise<void> {
  const ofNode = queries.deleteFrom('cached_media').where('node_id', '=', nodeId);
  await ofNode.where('mounted', '=', 0).execute();
}

/** The machine's BMC reads nothing from the cache any more. */
export async function dropMedium(queries: Queries, nodeId: string): Promise<void> {
  await queries.deleteFrom('cached_media').where('node_id', '=', nodeId).execute();
}

/** The ISOs that BMCs read from a site's cache; a machine that is out of service holds none. */
export async function mediaToHold(queries: Queries, siteId: string): Promise<Row<'images'>[]> {
  return queries
    .selectFrom('cached_media')
    .innerJoin('images', 'images.image_id', 'cached_media.image_id')
    .innerJoin('nodes', 'nodes.node_id', 'cached_media.node_id')
    .selectAll('images')
    .where('cached_media.site_id', '=', siteId)
    .where('nodes.state', '!=', 'retired')
    .orderBy('images.image_id')
    .execute();
}
