import type { ImageReader } from '#bootserver/http/imageReader.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { digestsOf } from '#contract/bootEntry.ts';
import type { WireError } from '#contract/errors.ts';
import type { SiteState } from '../store/state.ts';

export type PrivacyState = Pick<SiteState, 'cacheCatalog' | 'entries'>;
type ReaderState = PrivacyState & Pick<SiteState, 'mediaUrls'>;

/**
 * Whether anybody on the provisioning network may read an image: the centre has said that it is not private, or a machine boots it next. What this site
 * was told nothing of is private.
 */
export function isOpenImage(digest: string, { cacheCatalog, entries }: PrivacyState): boolean {
  const row = cacheCatalog.find(digest);
  if (row !== undefined && row.private !== true) return true;
  return entries.all().some((entry) => digestsOf(entry).includes(digest));
}

/** The cache as the open boot listener shows it: without what is private. */
export function openReader(cache: ImageCache, state: ReaderState): ImageReader {
  return {
    open: (digest) => cache.open(digest),
    section: (digest, name) => cache.section(digest, name),
    state: (digest) => cache.state(digest),
    granted: (token) => state.mediaUrls.find(token)?.digest,
    refusal: (digest) => (mayTell(digest, cache, state) ? undefined : isPrivate),
  };
}

/** Of what is not here there is nothing to keep: who asks is told that, and goes to the source. */
function mayTell(digest: string, cache: Pick<ImageCache, 'state'>, state: PrivacyState): boolean {
  return cache.state(digest) === undefined || isOpenImage(digest, state);
}

const isPrivate: WireError = {
  code: 'FORBIDDEN',
  message:
    'this image is private: a machine that is deployed from it reads it at the machine listener, by the URL that it asks for there',
  details: { reason: 'private' },
};
