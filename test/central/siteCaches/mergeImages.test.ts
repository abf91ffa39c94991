import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeImages, type WantedImage } from '#central/siteCaches/mergeImages.ts';

const wantedImage: fc.Arbitrary<WantedImage> = fc.record({
  isPlatform: fc.boolean(),
  image: fc.record({
    ref: fc.constantFrom('a@1', 'b@1'),
    kind: fc.constantFrom('os', 'ramdisk'),
    digest: fc.constantFrom('1', '2', '3'),
    format: fc.constant('raw'),
    compression: fc.constant('none'),
    sources: fc.array(fc.constantFrom('https://a', 'https://b', 'https://c'), { minLength: 1, maxLength: 2 }),
  }),
});

test('each digest stands once, ramdisks first, with every source of it once, the platform’s before the others', () => {
  fc.assert(
    fc.property(fc.array(wantedImage, { maxLength: 12 }), (wanted) => {
      const merged = mergeImages(wanted);
      const digests = new Set(wanted.map(({ image }) => image.digest));
      expect(merged.map(({ digest }) => digest).toSorted()).toEqual([...digests].toSorted());
      expect(merged.map(({ kind }) => kind)).toEqual(
        merged
          .map(({ kind }) => kind)
          .toSorted()
          .toReversed(),
      );
      for (const entry of merged) {
        const same = wanted.filter(({ image }) => image.digest === entry.digest);
        const ofPlatform = new Set(
          same.filter(({ isPlatform }) => isPlatform).flatMap(({ image }) => image.sources),
        );
        expect(entry.kind).toBe(same.some(({ image }) => image.kind === 'ramdisk') ? 'ramdisk' : 'os');
        expect(new Set(entry.sources.slice(0, ofPlatform.size))).toEqual(ofPlatform);
        expect(entry.sources.toSorted()).toEqual(
          [...new Set(same.flatMap(({ image }) => image.sources))].toSorted(),
        );
      }
    }),
  );
});

test('bytes that one catalog lets anybody read are no secret of another’s', () => {
  const image = {
    ref: 'a@1',
    kind: 'os',
    digest: '1',
    format: 'raw',
    compression: 'none',
    sources: ['https://a'],
  } as const;
  const entry = (more: object) => ({
    isPlatform: false,
    image: { ...image, sources: ['https://a'], ...more },
  });
  expect(mergeImages([entry({ private: true }), entry({ private: true })])).toMatchObject([
    { private: true },
  ]);
  for (const open of [{}, { kind: 'ramdisk' }])
    for (const wanted of [
      [entry({ private: true }), entry(open)],
      [entry(open), entry({ private: true })],
    ])
      expect(mergeImages(wanted)[0]).not.toHaveProperty('private');
});
