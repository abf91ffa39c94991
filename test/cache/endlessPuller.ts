/**
 * A process that pulls, evicts and pulls again until it is killed. Arguments: directory, source origin, CA
 * file, images as JSON.
 */
import { readFileSync } from 'node:fs';
import { silentLog } from '#base/log.ts';
import { openCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';

const [directory = '', caFile = '', list = '[]'] = process.argv.slice(2);
const images = JSON.parse(list) as CacheImage[];
const cache = await openCache({
  directory,
  // Room for two of the three: each round evicts one.
  quotaBytes: 2.5 * (images[0]?.sizeBytes ?? 0),
  sourceCa: readFileSync(caFile, 'utf8'),
  log: silentLog(),
});
for (let round = 0; ; round++) {
  const image = images[round % images.length];
  if (image === undefined) break;
  cache.desire([image]);
  await cache.ready(image.digest);
}
