import { assert, integer, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { parseRanges } from '#bootserver/http/range.ts';

test.each([
  ['bytes=0-99', [{ start: 0, endExclusive: 100 }]],
  ['bytes=100-', [{ start: 100, endExclusive: 1000 }]],
  ['bytes=900-5000', [{ start: 900, endExclusive: 1000 }]],
  ['bytes=-100', [{ start: 900, endExclusive: 1000 }]],
  ['bytes=-5000', [{ start: 0, endExclusive: 1000 }]],
  ['bytes=999-999', [{ start: 999, endExclusive: 1000 }]],
  ['bytes=1000-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  [undefined, 'whole'],
  ['bytes=5-3', 'whole'],
  ['bytes=-', 'whole'],
  [
    'bytes=0-1,5-6',
    [
      { start: 0, endExclusive: 2 },
      { start: 5, endExclusive: 7 },
    ],
  ],
  [
    'bytes=900-, 0-0 ,2000-',
    [
      { start: 900, endExclusive: 1000 },
      { start: 0, endExclusive: 1 },
    ],
  ],
  ['bytes=2000-,3000-', 'unsatisfiable'],
  ['bytes=0-1,x', 'whole'],
  ['bytes=0-,0-', 'whole'],
  [`bytes=${Array.from({ length: 17 }, (_, at) => `${at}-${at}`).join()}`, 'whole'],
  ['items=0-1', 'whole'],
  ['bytes=a-b', 'whole'],
])('%j of 1000 bytes', (header, range) => {
  expect(parseRanges(header, 1000)).toEqual(range);
});

test('nothing of an empty file can be had', () => {
  expect(parseRanges('bytes=0-', 0)).toBe('unsatisfiable');
  expect(parseRanges('bytes=-5', 0)).toBe('unsatisfiable');
});

test('a range never lies outside the file', () => {
  assert(
    property(string(), integer({ min: 0, max: 100 }), (text, size) => {
      const ranges = parseRanges(`bytes=${text}`, size);
      if (typeof ranges === 'string') return;
      for (const { start, endExclusive } of ranges) {
        expect(start).toBeLessThan(endExclusive);
        expect(endExclusive).toBeLessThanOrEqual(size);
      }
    }),
  );
});
