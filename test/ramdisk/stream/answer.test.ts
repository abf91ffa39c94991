import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge } from '#ramdisk/stream/answer.ts';
import { parseContentRange, retryAfterMs } from '#ramdisk/stream/contentRange.ts';

describe('Content-Range', () => {
  test.each([
    ['bytes 0-99/200', { first: 0, last: 99, total: 200 }],
    ['bytes 5-5/*', { first: 5, last: 5 }],
    ['bytes 9-5/200', undefined],
    ['bytes 0-200/200', undefined],
    ['bytes */200', undefined],
    ['items 0-99/200', undefined],
    ['bytes 0-99999999999999999999/*', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %j', (text, range) => {
    expect(parseContentRange(text)).toEqual(range);
  });

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (first, length, rest) => {
        const range = { first, last: first + length, total: first + length + 1 + rest };
        expect(parseContentRange(`bytes ${range.first}-${range.last}/${range.total}`)).toEqual(range);
      }),
    );
  });
});

test.each([
  ['3', 3000],
  ['0', 100],
  ['999999', 30_000],
  ['Thu, 01 Jan 1970 00:00:12 GMT', 2000],
  ['soon', 2000],
  [undefined, 2000],
])('Retry-After %j is a pause of %i ms', (text, ms) => {
  expect(retryAfterMs(text, 10_000)).toBe(ms);
});

test('no answer makes the judge throw, and bytes are only taken from where they are wanted', () => {
  const header = fc.option(fc.oneof(fc.string(), fc.constantFrom('bytes 0-9/10', 'bytes 5-9/10', '10')), {
    nil: undefined,
  });
  const names = ['content-range', 'content-length', 'content-type', 'etag', 'location', 'retry-after'];
  fc.assert(
    fc.property(
      fc.record({
        status: fc.oneof(fc.constantFrom(200, 206, 416, 502, 503), fc.integer({ min: 100, max: 599 })),
        headers: fc.record(Object.fromEntries(names.map((name) => [name, header]))),
        text: fc.oneof(fc.string(), fc.json()),
      }),
      fc.nat(10),
      fc.constantFrom('site' as const, 'origin' as const),
      (answer, offset, place) => {
        const asked = { place, url: 'http://s/', offset, totalBytes: 10, etag: undefined, now: 0 };
        const verdict = judge(answer, asked);
        if (verdict.kind === 'take') expect(verdict.skip).toBeLessThanOrEqual(offset);
      },
    ),
  );
});
