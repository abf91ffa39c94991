import type { CacheState } from '#contract/images.ts';
import { fromNow, now, type Queries, type Store } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { type AgentCopy, stateAtSite } from './state.ts';

/** An agent that has been silent for so long, in milliseconds, holds nothing that anybody could count on. */
export const agentLiveMs = 24 * 3_600_000;

/** An image that a site has ready. */
export interface CachedAtSite {
  imageId: string;
  ref: string;
  digest: string;
  sizeBytes?: number;
  usedAt?: string;
}

/**
 * Derives a site's image locations from what its live agents report: a catalog image whose digest one of them holds is at the
 * site, and a location that none holds any more is dropped, unless a deploy has pinned it.
 */
export async function syncSiteImageLocations(store: Store, siteId: string): Promise<void> {
  await store.transaction().execute(async (queries) => {
    const held = await copiesAt(queries, siteId);
    for (const { imageId, copies } of held) {
      const found = stateAtSite(copies);
      if (found !== undefined) await recordImageLocation(queries, { siteId, imageId, ...found });
    }
    await dropAbandoned(
      queries,
      siteId,
      held.map(({ imageId }) => imageId),
    );
  });
}

/** The catalog images that live agents of a site say something of, and what each of them says. */
async function copiesAt(
  queries: Queries,
  siteId: string,
): Promise<{ imageId: string; copies: AgentCopy[] }[]> {
  const rows = await queries
    .selectFrom('node_image_cache')
    .innerJoin('site_agents', 'site_agents.agent_id', 'node_image_cache.agent_id')
    .innerJoin('images', 'images.sha256', 'node_image_cache.sha256')
    .select([
      'images.image_id as imageId',
      'node_image_cache.state',
      'node_image_cache.received_bytes as receivedBytes',
      'node_image_cache.error',
    ])
    .where('site_agents.site_id', '=', siteId)
    .where('site_agents.seen_at', '>', fromNow(-agentLiveMs))
    .execute();
  const byImage = Map.groupBy(rows, ({ imageId }) => imageId);
  return Array.from(byImage, ([imageId, copies]) => ({ imageId, copies }));
}

/** Records what is known of one image at one site, in the place of what was known before; its last use stays. */
export async function recordImageLocation(
  queries: Queries,
  location: {
    siteId: string;
    imageId: string;
    state: CacheState;
    receivedBytes?: number | null;
    error?: string | null;
  },
): Promise<void> {
  const { siteId, imageId, state, receivedBytes = null, error = null } = location;
  const facts = { state, received_bytes: receivedBytes, error, reported_at: now() };
  await queries
    .insertInto('image_locations')
    .values({ site_id: siteId, image_id: imageId, ...facts, used_at: null })
    .onConflict((conflict) => conflict.columns(['site_id', 'image_id']).doUpdateSet(facts))
    .execute();
}

/**
 * Notes that an image is used at a site now. With `pinFor`, the workflow that streams it, its location stays and is no candidate
 * for eviction until `unpinImages`.
 */
export async function touchImageLocation(
  queries: Queries,
  { siteId, imageId, pinFor }: { siteId: string; imageId: string; pinFor?: string },
): Promise<void> {
  await queries
    .updateTable('image_locations')
    .set({ used_at: now() })
    .where('site_id', '=', siteId)
    .where('image_id', '=', imageId)
    .execute();
  if (pinFor === undefined) return;
  await queries
    .insertInto('image_pins')
    .values({ site_id: siteId, image_id: imageId, workflow_id: pinFor, pinned_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** A workflow streams no image any more. Returns the sites where it had one pinned. */
export async function unpinImages(queries: Queries, workflowId: string): Promise<string[]> {
  const rows = await queries
    .deleteFrom('image_pins')
    .where('workflow_id', '=', workflowId)
    .returning('site_id')
    .execute();
  return [...new Set(rows.map((row) => row.site_id))];
}

/** What deploys stream at a site now, in a fixed order: the site is to keep its copies. */
export async function pinnedDigests(queries: Queries, siteId: string): Promise<string[]> {
  const rows = await queries
    .selectFrom('image_pins')
    .innerJoin('images', 'images.image_id', 'image_pins.image_id')
    .select('images.sha256')
    .distinct()
    .where('image_pins.site_id', '=', siteId)
    .orderBy('images.sha256')
    .execute();
  return rows.map(({ sha256 }) => sha256);
}

/** The images that a site has ready, by ref. */
export async function imagesCachedAt(queries: Queries, siteId: string): Promise<CachedAtSite[]> {
  const rows = await queries
    .selectFrom('image_locations')
    .innerJoin('images', 'images.image_id', 'image_locations.image_id')
    .selectAll('images')
    .select('image_locations.used_at')
    .where('image_locations.site_id', '=', siteId)
    .where('image_locations.state', '=', 'ready')
    .orderBy('images.ref')
    .orderBy('images.image_id')
    .execute();
  return rows.map(presentCached);
}

function presentCached(row: Row<'images'> & { used_at: string | null }): CachedAtSite {
  const { image_id: imageId, ref, sha256: digest, size_bytes: sizeBytes, used_at: usedAt } = row;
  return {
    imageId,
    ref,
    digest,
    ...(sizeBytes === null ? {} : { sizeBytes }),
    ...(usedAt === null ? {} : { usedAt }),
  };
}

async function dropAbandoned(queries: Queries, siteId: string, held: readonly string[]): Promise<void> {
  const rows = await queries
    .selectFrom('image_locations')
    .leftJoin('image_pins', (join) =>
      join
        .onRef('image_pins.site_id', '=', 'image_locations.site_id')
        .onRef('image_pins.image_id', '=', 'image_locations.image_id'),
    )
    .select(['image_locations.image_id', 'image_pins.workflow_id'])
    .where('image_locations.site_id', '=', siteId)
    .execute();
  const there = new Set(held);
  for (const { image_id, workflow_id } of rows)
    if (workflow_id === null && !there.has(image_id))
      await queries
        .deleteFrom('image_locations')
        .where('site_id', '=', siteId)
        .where('image_id', '=', image_id)
        .execute();
}
