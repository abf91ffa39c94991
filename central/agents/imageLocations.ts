import { now, type Store, toJson } from '../store/store.ts';
import type { ReportedImage } from './reportSchema.ts';

/** Replaces what is known of a site's cache by its whole inventory. Digests that the catalog does not know are left out. */
export async function recordInventory(
  store: Store,
  siteId: string,
  inventory: readonly ReportedImage[],
): Promise<void> {
  await store.transaction().execute(async (queries) => {
    await queries.deleteFrom('image_locations').where('site_id', '=', siteId).execute();
    for (const cached of inventory) {
      const images = await queries
        .selectFrom('images')
        .select('image_id')
        .where('sha256', '=', cached.digest)
        .execute();
      const facts = { state: cached.state, received_bytes: cached.receivedBytes ?? null, reported_at: now() };
      for (const { image_id } of images)
        await queries
          .insertInto('image_locations')
          .values({ site_id: siteId, image_id, ...facts, error: toJson(cached.error) })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
    }
  });
}
