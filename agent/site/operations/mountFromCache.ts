import { mediumPath } from '#bootserver/http/medium.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { isOpenImage } from '../cache/privacy.ts';
import type { ActionContext } from './action.ts';
import { inCache } from './inCache.ts';

interface CachedIso {
  ref: string;
  digest: string;
}

/**
 * Has the BMC mount an image of the site's cache, once that holds it, by a URL that is good for this machine until the medium is ejected.
 * @throws RailheadError UNSUPPORTED (`private`) for a private image where there is no HTTPS, what the cache failed to have the image with, or
 *   what the BMC says of the last URL
 */
export async function mountFromCache(iso: CachedIso, context: ActionContext): Promise<string> {
  const { nodeId, node, state, mediaPlaces } = context;
  await inCache(iso.digest, context);
  const places = await mediaPlaces(node?.bmc?.address ?? '');
  const usable = isOpenImage(iso.digest, state) ? places : places.filter(isHttps);
  if (usable.length === 0) {
    // What has no virtual drive says so instead: then the machine boots the ISO from here by its firmware.
    await context.withBmc((bmc, limits) => bmc.insertedMedia(limits));
    throw needsHttps(iso);
  }
  const grant = { nodeId, digest: iso.digest };
  const path = mediumPath(state.mediaUrls.grant(grant));
  const urls = usable.map((place) => `${place}${path}`);
  const mounted = await mountFirst(urls, context);
  state.mediaUrls.mounted(grant);
  return mounted;
}

/** A BMC may take one kind of URL and not the other: `http` alone, or `https` alone. */
async function mountFirst([url = '', ...others]: readonly string[], context: ActionContext): Promise<string> {
  try {
    await context.withBmc((bmc, limits) => bmc.insertMedia(url, limits));
    return url;
  } catch (error) {
    if (others.length === 0 || !isOfUrl(error)) throw error;
    return mountFirst(others, context);
  }
}

function isOfUrl(error: unknown): boolean {
  return hasCode(error, 'DRIVER_ERROR') && ['refused', 'not-stored'].includes(String(error.details.reason));
}

function isHttps(place: string): boolean {
  return place.startsWith('https://');
}

function needsHttps({ ref }: CachedIso): RailheadError {
  const message = `image ${ref} is private, and goes to a BMC by HTTPS only: set boot.httpsPort, or an https bmc.mediaUrl`;
  return new RailheadError('UNSUPPORTED', message, { reason: 'private', ref });
}
