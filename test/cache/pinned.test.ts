import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { contentOf, imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

test('what a deploy has pinned makes room for nothing, although nothing wants it here any more', async () => {
  const [streamed, other, next] = [randomBytes(600), randomBytes(600), randomBytes(600)];
  const source = await startSource((request, socket, count) => {
    const bytes = { '/streamed': streamed, '/other': other }[request.path] ?? next;
    serveBytes(bytes)(request, socket, count);
  });
  const cache = await startCache({ directory: await temporaryDirectory(), quotaBytes: 1300 });
  const images = [imageOf(streamed, `${source.origin}/streamed`), imageOf(other, `${source.origin}/other`)];
  cache.desire(images);
  for (const { digest } of images) await cache.ready(digest);
  const [pinned, unpinned] = images.map(({ digest }) => digest) as [string, string];
  const coming = imageOf(next, `${source.origin}/next`);
  cache.desire([coming], [], [pinned]);
  await cache.ready(coming.digest);
  expect(await contentOf(cache, pinned)).toEqual(streamed);
  expect(cache.state(unpinned)).toBeUndefined();
  await cache.close();
});
