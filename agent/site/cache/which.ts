import type { ImageCache } from '#cache/imageCache.ts';
import { RailheadError } from '#contract/errors.ts';
import type { CacheCatalog } from '../store/cacheCatalog.ts';

/** How an image is called in the output of these commands. */
export interface Named {
  digest: string;
  ref: string;
}

interface Places {
  cache: Pick<ImageCache, 'operator'>;
  cacheCatalog: Pick<CacheCatalog, 'all' | 'find'>;
}

/**
 * The image that an operator means: by its ref, its digest, or the first eight or more digits of that. What is in the cache goes before what the
 * catalog knows only.
 * @throws RailheadError NOT_FOUND, or CONFLICT with the digests that the name may mean
 */
export function whichImage(text: string, { cache, cacheCatalog }: Places): Named {
  // Who follows a pull asks several times a second, by the digest.
  const exact = cache.operator.show(text) ?? cacheCatalog.find(text);
  if (exact !== undefined) return { digest: exact.digest, ref: exact.ref };
  for (const named of [cache.operator.list(), cacheCatalog.all()]) {
    const found = new Map(named.filter((one) => isMeant(text, one)).map(({ digest, ref }) => [digest, ref]));
    if (found.size > 1) throw ambiguous(text, [...found.keys()]);
    for (const [digest, ref] of found) return { digest, ref };
  }
  throw new RailheadError(
    'NOT_FOUND',
    `neither this site's cache nor what the centre told it of the catalog has an image ${text}`,
    { path: 'image', found: text },
  );
}

function isMeant(text: string, { digest, ref }: Named): boolean {
  return text === ref || text === digest || (/^[0-9a-f]{8,63}$/.test(text) && digest.startsWith(text));
}

function ambiguous(text: string, digests: string[]): RailheadError {
  return new RailheadError('CONFLICT', `${text} may be any of ${digests.length} images: give the digest`, {
    path: 'image',
    digests,
  });
}
