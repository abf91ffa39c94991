import path from 'node:path';
import type { Log } from '#base/log.ts';
import { damageError } from '#cache/damage.ts';
import { type ImageCache, openCache } from '#cache/imageCache.ts';
import { type SiteConfig, sizeBytes } from '../config.ts';
import { readSourceCa } from '../sourceCa.ts';
import type { SiteState } from '../store/state.ts';
import { keepPins } from './pins.ts';
import { readSourceProxy } from './sourceProxy.ts';

const dayMs = 24 * 3_600_000;

/** Opens the site's cache and has it hold what the centre last said, and what operators pinned here. */
export async function openSiteCache(
  config: SiteConfig,
  state: SiteState,
  onEvent: () => void,
  log: Log,
): Promise<ImageCache> {
  const { directory, quota, sourceCaFile, parallelPulls, bandwidth, scrubRate, scrubDays } = config.cache;
  const proxy = await readSourceProxy(config.cache);
  const cache = await openCache({
    directory: directory ?? path.join(config.stateDirectory, 'images'),
    quotaBytes: sizeBytes(quota),
    parallelPulls,
    bandwidth: bandwidth.map(({ from, to, limit }) => ({ from, to, bytesPerSecond: sizeBytes(limit) })),
    ...(proxy !== undefined && { proxy }),
    ...(sourceCaFile !== undefined && { sourceCa: await readSourceCa(sourceCaFile) }),
    ...(scrubRate !== 'off' && {
      scrub: { bytesPerSecond: sizeBytes(scrubRate), everyMs: scrubDays * dayMs },
    }),
    onDamage: (damage) => {
      const { ref, digest } = damage;
      state.events.add({ type: 'image.damaged', text: damageError(damage).message, ref, digest });
      onEvent();
    },
    refOf: (digest) => state.cacheCatalog.find(digest)?.ref,
    log,
  });
  const { cacheImages = [], withdrawn, pinned } = state.spec.current()?.site ?? {};
  state.cacheCatalog.learn(cacheImages, Date.now());
  // First of all what is withdrawn: a pin of it pulls nothing.
  cache.desire(cacheImages, withdrawn, pinned);
  keepPins(cache, state);
  return cache;
}
