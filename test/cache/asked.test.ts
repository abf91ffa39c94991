import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { pullOnDemand } from '#agent/site/cache/onDemand.ts';
import type { Operation } from '#contract/operations.ts';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { contentOf, imageOf, sha256, startCache, startSource, temporaryDirectory } from './testBench.ts';

const bytes = Buffer.from('what a machine is to get');

function deployOf(source: string): Operation {
  const image = { ref: 'os@1', digest: sha256(bytes), format: 'raw', compression: 'none', sources: [source] };
  const facts = { operationId: 'op_1', nodeId: 'node_1', expiresAt: '2999-01-01T00:00:00Z' };
  return { ...facts, target: 'ramdisk', action: 'deploy.image', input: image };
}

test('on demand, what is deployed is pulled once, and stays when the desired state is stated anew', async () => {
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const operation = deployOf(source.origin);
  pullOnDemand([operation, operation, { ...operation, action: 'boot.kexec', input: {} }], cache);
  cache.desire([]);
  await cache.ready(sha256(bytes));
  pullOnDemand([operation], cache);
  cache.desire([]);
  expect(await contentOf(cache, sha256(bytes))).toEqual(bytes);
  expect(source.requests.length).toBe(1);
  expect(cache.operator.show(sha256(bytes))).toMatchObject({ desired: false, pinned: false });
});

test('what was asked for is given up by hand', async () => {
  const source = await startSource(() => {});
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, source.origin);
  cache.ask(image);
  expect(cache.state(image.digest)).toMatchObject({ state: 'pulling' });
  await cache.operator.evict(image.digest);
  expect(cache.state(image.digest)).toBeUndefined();
});

test('a quota that was lowered evicts what nobody wants, least recently used first, and never a pin', async () => {
  const directory = await temporaryDirectory();
  const contents = ['one', 'two', 'three'].map((name) =>
    Buffer.concat([Buffer.from(name), randomBytes(99_997)]),
  );
  const source = await startSource((request, socket, count) =>
    serveBytes(contents[Number(request.path.slice(1))] ?? bytes)(request, socket, count),
  );
  const images = contents.map((content, n) => imageOf(content, `${source.origin}/${n}`));
  const cache = await startCache({ directory });
  for (const image of images) {
    cache.desire(images);
    await cache.ready(image.digest);
  }
  await cache.close();

  const smaller = await startCache({ directory, quotaBytes: 250_000 });
  smaller.keep([{ digest: images[0]?.digest ?? '' }]);
  smaller.desire([]);
  const held = () => smaller.operator.list().filter(({ state }) => state === 'ready');
  await expect.poll(() => held().length).toBe(2);
  expect(held().some(({ digest }) => digest === images[0]?.digest)).toBe(true);
  expect(smaller.inventory().images).toContainEqual(
    expect.objectContaining({ digest: images[0]?.digest, pinned: true }),
  );
});
