/**
 * `node pullProcess.ts DIRECTORY CA-FILE IMAGE`: pulls one image, as JSON, into a new cache; one line of JSON says how long it took until it was
 * verified and on stable storage, and the most memory that it took.
 */
import { readFileSync } from 'node:fs';
import { silentLog } from '#base/log.ts';
import { openCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';

const [directory = '', caFile = '', text = ''] = process.argv.slice(2);
const image = JSON.parse(text) as CacheImage;
const sourceCa = readFileSync(caFile, 'utf8');
const cache = await openCache({ directory, quotaBytes: 1024 ** 4, sourceCa, log: silentLog() });
const startMiB = peakMiB();
const begun = performance.now();
cache.desire([image]);
await cache.ready(image.digest);
const seconds = (performance.now() - begun) / 1000;
console.log(JSON.stringify({ seconds, peakMiB: peakMiB(), startMiB }));
await cache.close();

function peakMiB(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
