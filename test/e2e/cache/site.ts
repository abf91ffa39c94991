/**
 * A site's cache with the boot listener that serves it, as a process of its own: it can be killed, or run with a disk that fails. Its argument is
 * `Settings` as JSON. On standard output the log, and once it serves `{"url":…}`. `/rows` of the URL beside has the inventory.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openLog } from '#base/log.ts';
import { image, imagePattern } from '#bootserver/http/images.ts';
import { startBootHttp } from '#bootserver/http/server.ts';
import { openCache } from '#cache/imageCache.ts';
import type { CacheImage } from '#contract/images.ts';

export interface Settings {
  directory: string;
  quotaBytes: number;
  sourceCa: string;
  images: CacheImage[];
  /** Milliseconds in which every image is read again; without it none is. */
  scrubMs?: number;
}

const { directory, quotaBytes, sourceCa, images, scrubMs } = JSON.parse(process.argv[2] ?? '') as Settings;
const log = openLog('bcd', 'info');
const cache = await openCache({
  directory,
  quotaBytes,
  sourceCa,
  log,
  ...(scrubMs !== undefined && { scrub: { bytesPerSecond: 512 * 1024 ** 2, everyMs: scrubMs } }),
});
cache.desire(images);
const served = await startBootHttp({
  address: '127.0.0.1',
  port: 0,
  log,
  routes: () => [
    { path: '/images', pattern: imagePattern, isDownload: true, answer: (request) => image(request, cache) },
  ],
});
const rows = createServer((_request, response) => {
  response.end(JSON.stringify({ ...cache.operator.overview(), images: cache.operator.list() }));
});
rows.listen(0, '127.0.0.1');
await once(rows, 'listening');
const rowsUrl = `http://127.0.0.1:${(rows.address() as AddressInfo).port}/rows`;
process.stdout.write(`${JSON.stringify({ url: served.url, rowsUrl })}\n`);
