/** A process that pulls one image and says what became of it. Arguments: directory, CA file, images as JSON. */
import { readFileSync } from 'node:fs';
import { silentLog } from '#base/log.ts';
import { openCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';

const [directory = '', caFile = '', list = '[]'] = process.argv.slice(2);
const [image] = JSON.parse(list) as [CacheImage];
const sourceCa = readFileSync(caFile, 'utf8');
const cache = await openCache({ directory, quotaBytes: 1024 ** 3, sourceCa, log: silentLog() });
cache.desire([image]);
await cache.ready(image.digest).catch(() => {});
process.stdout.write(JSON.stringify(cache.state(image.digest)));
await cache.close();
