import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sectionOf } from '#cache/section.ts';
import { syntheticStub } from '../base/syntheticStub.ts';
import { serveBytes } from '../fakes/rawHttpsServer.ts';
import { contentOf, imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

const kernel = Buffer.from('this is the kernel');
const initrd = Buffer.from('and this the initrd');
const uki = syntheticStub({
  sections: [
    { name: '.text', data: Buffer.from('code') },
    { name: '.linux', data: kernel },
    { name: '.initrd', data: initrd },
  ],
});

test('kernel and initrd of a unified kernel image are found, without the padding', async () => {
  const source = await startSource(serveBytes(uki));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(uki, source.origin);
  cache.desire([image]);
  await cache.ready(image.digest);
  for (const [name, content] of [
    ['linux', kernel],
    ['initrd', initrd],
  ] as const) {
    const section = await cache.section(image.digest, name);
    expect(section?.sizeBytes).toBe(content.length);
    const start = section?.offset ?? 0;
    expect(await contentOf(cache, image.digest, start, start + content.length)).toEqual(content);
  }
});

test('an image that is not held, no PE image, or without the section has none', async () => {
  const bytes = Buffer.from('a raw disk');
  const source = await startSource(serveBytes(bytes));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(bytes, source.origin);
  cache.desire([image]);
  expect(await cache.section(image.digest, 'linux')).toBeUndefined();
  await cache.ready(image.digest);
  expect(await cache.section(image.digest, 'linux')).toBeUndefined();
  expect(sectionOf(syntheticStub(), 1 << 20, '.linux')).toBeUndefined();
});

test('a section that its table puts beyond the end is none: the image is no disk fault', async () => {
  const cut = uki.subarray(0, uki.length - 512);
  const source = await startSource(serveBytes(cut));
  const cache = await startCache({ directory: await temporaryDirectory() });
  const image = imageOf(cut, source.origin);
  cache.desire([image]);
  await cache.ready(image.digest);
  expect(await cache.section(image.digest, 'initrd')).toBeUndefined();
  expect(cache.state(image.digest)).toMatchObject({ state: 'ready' });
});

test('headers of any bytes have a section or not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(599), (noise, at) => {
      const head = Buffer.from(uki);
      head.set(noise, Math.min(at, head.length - noise.length));
      const section = sectionOf(head, uki.length, '.linux');
      const end = (section?.offset ?? 0) + (section?.sizeBytes ?? 0);
      expect(end).toBeLessThanOrEqual(uki.length);
    }),
  );
});
