import type { CacheState } from '#contract/images.ts';
import { decodeCursor, type Page, type PageOf, pageOf } from '../api/cursor.ts';
import { present } from '../nodes.ts';
import { parseJson, type Queries } from '../store/store.ts';

/** What is known of one catalog image at one site. */
interface ImageAtSite {
  imageId: string;
  tenantId: string;
  ref: string;
  digest: string;
  state: CacheState;
  pinned: boolean;
  sizeBytes?: number;
  receivedBytes?: number;
  /** Why `failed`. */
  error?: unknown;
  usedAt?: string;
  reportedAt: string;
}

/** A page of the images at a site, by image id. */
export async function listImagesAtSite(
  store: Queries,
  { siteId, limit, cursor }: Page & { siteId: string },
): Promise<PageOf<ImageAtSite>> {
  let query = locationsAt(store, siteId)
    .orderBy('location.image_id')
    .limit(limit + 1);
  if (cursor !== undefined) query = query.where('location.image_id', '>', decodeCursor(cursor, 'string')[0]);
  return pageOf(await query.execute(), limit, (row) => [row.image_id], presentLocation);
}

function locationsAt(store: Queries, siteId: string) {
  return store
    .selectFrom('image_locations as location')
    .innerJoin('images', 'images.image_id', 'location.image_id')
    .selectAll('location')
    .select(['images.tenant_id', 'images.ref', 'images.sha256', 'images.size_bytes'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('image_pins as pin')
          .select('pin.workflow_id')
          .whereRef('pin.site_id', '=', 'location.site_id')
          .whereRef('pin.image_id', '=', 'location.image_id'),
      ).as('pinned'),
    )
    .where('location.site_id', '=', siteId);
}

type LocationRow = Awaited<ReturnType<ReturnType<typeof locationsAt>['executeTakeFirstOrThrow']>>;

function presentLocation(row: LocationRow): ImageAtSite {
  return {
    imageId: row.image_id,
    tenantId: row.tenant_id,
    ref: row.ref,
    digest: row.sha256,
    state: row.state,
    pinned: Boolean(row.pinned),
    ...present({
      sizeBytes: row.size_bytes,
      receivedBytes: row.received_bytes,
      error: parseJson<object>(row.error),
      usedAt: row.used_at,
    }),
    reportedAt: row.reported_at,
  };
}
