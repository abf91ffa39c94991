import type { CacheParts } from './rows.ts';

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
  const spared = wishes.spared();
  const beyond = new Set(store.beyondQuota(spared));
  const goes = (digest: string) =>
    beyond.has(digest) || (unused && !spared.has(digest) && !store.isInUse(digest));
  const images = store
    .held()
    .filter(({ digest }) => goes(digest))
    .map(({ digest, ref, sizeBytes }) => ({ digest, ref, sizeBytes }));
  const quarantineBytes = dryRun ? await store.quarantineBytes() : await store.emptyQuarantine();
  if (!dryRun) for (const { digest } of images) await store.evict(digest);
  return { images, imageBytes: images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0), quarantineBytes };
}
