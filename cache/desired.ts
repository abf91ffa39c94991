import type { CacheImage } from '#contract/images.ts';

/** What the decisions below need to know of an artifact that is held. */
export interface HeldFacts {
  digest: string;
  sizeBytes: number;
  /** Milliseconds since the epoch. */
  usedAt: number;
}

/** Which pulls to begin and which to stop so that the cache comes to hold what is desired. */
export function pullChanges(
  desired: ReadonlyMap<string, CacheImage>,
  held: ReadonlySet<string>,
  pulling: ReadonlyMap<string, CacheImage>,
): { start: CacheImage[]; stop: string[] } {
  const start = [...desired.values()].filter((image) => {
    const running = pulling.get(image.digest);
    return !held.has(image.digest) && (running === undefined || !samePull(running, image));
  });
  const stop = [...pulling.keys()].filter((digest) => {
    const image = desired.get(digest);
    return image === undefined || start.includes(image);
  });
  return { start, stop };
}

/** Whether a new statement of an image changes nothing for the pull that runs. */
function samePull(one: CacheImage, other: CacheImage): boolean {
  return one.sizeBytes === other.sizeBytes && one.sources.join('\n') === other.sources.join('\n');
}

export interface RoomAsked {
  /** Asked for only when something has to go: there may be thousands, and a pull asks for every mebibyte. */
  held: () => Iterable<HeldFacts>;
  heldBytes: number;
  /** Whether it stays whatever happens: desired, pinned or in use. */
  keep: (digest: string) => boolean;
  /** Bytes that other running pulls have been promised. */
  promisedBytes: number;
  neededBytes: number;
  quotaBytes: number;
  /** What of all these promises, this one included, is still to be written. */
  unwrittenBytes: number;
  /** What the file system has left. */
  freeBytes: number;
  /** What it must have left in the end: it may hold the site's database as well. */
  reserveBytes: number;
}

/** By how many bytes quota and disk are exceeded; not above 0 where all fits. */
export function missingRoom(asked: RoomAsked): { quota: number; disk: number } {
  return {
    quota: asked.heldBytes + asked.promisedBytes + asked.neededBytes - asked.quotaBytes,
    disk: asked.unwrittenBytes + asked.reserveBytes - asked.freeBytes,
  };
}

/**
 * What to evict, least recently used first, so that `neededBytes` fit quota and disk; undefined when nothing
 * makes them fit.
 */
export function evictions(asked: RoomAsked): string[] | undefined {
  const { quota, disk } = missingRoom(asked);
  const missing = Math.max(quota, disk);
  if (missing <= 0) return [];
  const { digests, bytes } = leastUsed(asked.held(), missing, asked.keep);
  return bytes >= missing ? digests : undefined;
}

/** What may go of `held`, least recently used first, until `bytes` are reached or nothing is left that may. */
export function leastUsed(
  held: Iterable<HeldFacts>,
  bytes: number,
  keep: (digest: string) => boolean,
): { digests: string[]; bytes: number } {
  const found = { digests: [] as string[], bytes: 0 };
  const spare = [...held].filter(({ digest }) => !keep(digest));
  for (const { digest, sizeBytes } of spare.sort((a, b) => a.usedAt - b.usedAt)) {
    if (found.bytes >= bytes) break;
    found.digests.push(digest);
    found.bytes += sizeBytes;
  }
  return found;
}
