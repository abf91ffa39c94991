import assert from 'node:assert/strict';
import { parseRanges } from '#bootserver/http/range.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const sizes = [0, 1, 1000, 5_000_000_000];

/** Range: parts that lie within the content, the whole, or nothing. */
export const target: FuzzTarget = {
  seeds: [
    'bytes=0-0',
    'bytes=0-',
    'bytes=-500',
    'bytes=500-499',
    'bytes=0-1,5-9',
    'bytes=99999999999999999999-',
    ' bytes=1-2 ',
  ].map(text),
  longest: 16_384,
  run(input) {
    for (const size of sizes) {
      const ranges = parseRanges(input.toString('latin1'), size);
      if (typeof ranges === 'string') continue;
      assert(ranges.length > 0 && ranges.length <= 16);
      for (const { start, endExclusive } of ranges)
        assert(start >= 0 && start < endExclusive && endExclusive <= size);
    }
  },
};
