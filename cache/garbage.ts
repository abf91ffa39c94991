import type { IsSpared } from './makingRoom.ts';
import type { CacheParts } from './rows.ts';
import type { Store } from './store.ts';

export interface GarbageOptions {
  /** Also every image that is neither desired, pinned nor in use, although there is room for it. */
  unused?: boolean;
  /** Only tells what would go. */
  dryRun?: boolean;
}

export interface Garbage {
  /** Images that went, or would go. */
  images: { digest: string; ref: string; sizeBytes: number }[];
  /** Bytes of these. */
  imageBytes: number;
  /** Bytes that were, or are, in quarantine. */
  quarantineBytes: number;
}

/** Frees what nobody counts on: the quarantine, what exceeds the quota and, if told so, whatever nobody wants. */
export async function collectGarbage(
  { store, wishes }: Pick<CacheParts, 'store' | 'wishes'>,
  { unused = false, dryRun = false }: GarbageOptions,
): Promise<Garbage> {
  const { isSpared } = wishes;
  const beyond = new Set(store.beyondQuota(isSpared));
  const goes = (digest: string) =>
    beyond.has(digest) || (unused && !isSpared(digest) && !store.isInUse(digest));
  const chosen = store
    .held()
    .filter(({ digest }) => goes(digest))
    .map(({ digest, ref, sizeBytes }) => ({ digest, ref, sizeBytes }));
  const quarantineBytes = dryRun ? await store.quarantineBytes() : await store.emptyQuarantine();
  const images = dryRun ? chosen : await evicted(chosen, store, isSpared);
  return { images, imageBytes: images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0), quarantineBytes };
}

/** Which of these went: what has been pinned, wanted or opened since they were chosen stays, and so does what the disk does not let go. */
async function evicted<Chosen extends { digest: string }>(
  chosen: readonly Chosen[],
  store: Store,
  isSpared: IsSpared,
): Promise<Chosen[]> {
  const gone: Chosen[] = [];
  for (const one of chosen) if (await store.evict(one.digest, isSpared).catch(() => false)) gone.push(one);
  return gone;
}
