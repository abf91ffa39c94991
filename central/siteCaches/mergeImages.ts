import type { CacheImage } from '#contract/images.ts';

/** A verified image that somebody wants at a site. */
export interface WantedImage {
  /** Whether it stands in the platform's own catalog. */
  isPlatform: boolean;
  image: CacheImage;
}

/**
 * One entry per digest, ramdisks first. Several catalogs may know one artifact, and a signature says nothing of where it lies: so a
 * ramdisk's entry counts more than an OS image's and the platform's more than a tenant's, and the sources of all are tried, the
 * platform's before any other. No tenant's entry takes another's away, nor its sources.
 */
export function mergeImages(wanted: readonly WantedImage[]): CacheImage[] {
  const merged = [...Map.groupBy(wanted, ({ image }) => image.digest).values()].map(mergeOne);
  return merged.toSorted((one, other) => kindRank(one) - kindRank(other));
}

/** Sorting is stable: what is alike stays in the order that it was wanted in. */
function mergeOne(entries: readonly WantedImage[]): CacheImage {
  const bySource = entries.toSorted(
    (one, other) => platformRank(one) - platformRank(other) || kindRank(one.image) - kindRank(other.image),
  );
  const [best = bySource[0]] = bySource.toSorted((one, other) => kindRank(one.image) - kindRank(other.image));
  const sources = new Set(bySource.flatMap(({ image }) => image.sources));
  const { private: _, ...image } = (best as WantedImage).image;
  // Bytes that one entry lets anybody read are no secret of another's.
  const isPrivate = entries.every((entry) => entry.image.private === true);
  return { ...image, sources: [...sources], ...(isPrivate && { private: true }) };
}

function platformRank({ isPlatform }: WantedImage): number {
  return isPlatform ? 0 : 1;
}

function kindRank({ kind }: CacheImage): number {
  return kind === 'ramdisk' ? 0 : 1;
}
