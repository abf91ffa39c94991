import type { Queries } from '../store/store.ts';

/** An artifact that a site may give up, under each name that the catalog has for it. */
export interface EvictionCandidate {
  digest: string;
  imageIds: string[];
  sizeBytes: number;
}

/** What is known of a ready image at a site. */
export interface ReadyImage {
  imageId: string;
  digest: string;
  sizeBytes: number;
  /** ISO 8601; null: never used since it came. */
  usedAt: string | null;
  isPinned: boolean;
}

/**
 * What a site should evict to free `bytes`: its ready images, least recently used first, never one that a deploy has pinned or
 * that is in use (`inUse` are image ids). All that may go, where that is not enough.
 */
export async function evictionCandidates(
  queries: Queries,
  siteId: string,
  bytes: number,
  inUse: ReadonlySet<string> = new Set(),
): Promise<EvictionCandidate[]> {
  return chooseEvictions(await readyImages(queries, siteId), bytes, inUse);
}

/** Catalog images of one digest are one artifact: it goes when none of them holds it, and frees its bytes once. */
export function chooseEvictions(
  ready: readonly ReadyImage[],
  bytes: number,
  inUse: ReadonlySet<string>,
): EvictionCandidate[] {
  const artifacts = [...Map.groupBy(ready, ({ digest }) => digest)]
    .filter(([, images]) => !images.some(({ imageId, isPinned }) => isPinned || inUse.has(imageId)))
    .map(([digest, images]) => ({
      digest,
      imageIds: images.map(({ imageId }) => imageId),
      sizeBytes: Math.max(...images.map(({ sizeBytes }) => sizeBytes)),
      usedAt:
        images
          .map(({ usedAt }) => usedAt ?? '')
          .toSorted()
          .at(-1) ?? '',
    }))
    .toSorted((one, other) => compare(one.usedAt, other.usedAt) || compare(one.digest, other.digest));
  let freed = 0;
  const chosen: EvictionCandidate[] = [];
  for (const { usedAt: _, ...artifact } of artifacts) {
    if (freed >= bytes) break;
    chosen.push(artifact);
    freed += artifact.sizeBytes;
  }
  return chosen;
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

async function readyImages(queries: Queries, siteId: string): Promise<ReadyImage[]> {
  const rows = await queries
    .selectFrom('image_locations as location')
    .innerJoin('images', 'images.image_id', 'location.image_id')
    .select(['images.image_id', 'images.sha256', 'images.size_bytes', 'location.used_at'])
    .where('location.site_id', '=', siteId)
    .where('location.state', '=', 'ready')
    .execute();
  const [pinned, sizes] = [await pinnedAt(queries, siteId), await reportedSizes(queries, siteId)];
  return rows.map((row) => ({
    imageId: row.image_id,
    digest: row.sha256,
    sizeBytes: sizes.get(row.sha256) ?? row.size_bytes ?? 0,
    usedAt: row.used_at,
    isPinned: pinned.has(row.image_id),
  }));
}

async function pinnedAt(queries: Queries, siteId: string): Promise<Set<string>> {
  const rows = await queries
    .selectFrom('image_pins')
    .select('image_id')
    .where('site_id', '=', siteId)
    .execute();
  return new Set(rows.map((row) => row.image_id));
}

/** What the site's agents measured: an image may be registered without its size. */
async function reportedSizes(queries: Queries, siteId: string): Promise<Map<string, number>> {
  const rows = await queries
    .selectFrom('node_image_cache')
    .innerJoin('site_agents', 'site_agents.agent_id', 'node_image_cache.agent_id')
    .select(['node_image_cache.sha256', 'node_image_cache.size_bytes'])
    .where('site_agents.site_id', '=', siteId)
    .execute();
  return new Map(
    rows.flatMap(({ sha256, size_bytes }) => (size_bytes === null ? [] : [[sha256, size_bytes]])),
  );
}
