import type { ImageCache } from '#cache/imageCache.ts';
import type { SiteState } from '../store/state.ts';

/** Tells the cache what operators have pinned here; what is known of it comes back by itself when it is lost. */
export function keepPins(
  cache: Pick<ImageCache, 'keep'>,
  { cachePins, cacheCatalog }: Pick<SiteState, 'cachePins' | 'cacheCatalog'>,
): void {
  cache.keep(
    cachePins.all().map(({ digest }) => {
      const image = cacheCatalog.find(digest);
      return image === undefined ? { digest } : { digest, image };
    }),
  );
}
