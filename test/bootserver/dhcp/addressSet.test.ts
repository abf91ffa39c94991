import { array, assert, integer, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { AddressSet } from '#bootserver/dhcp/addressSet.ts';

test('it finds what a plain search finds, whatever is taken out and put back', () => {
  const step = record({ number: integer({ min: 0, max: 2999 }), out: integer({ min: 0, max: 9 }) });
  assert(
    property(integer({ min: 1, max: 3000 }), array(step, { maxLength: 200 }), (size, steps) => {
      const set = new AddressSet(size);
      const plain = new Set(Array.from({ length: size }, (_, at) => at));
      for (const { number, out } of steps) {
        const [one, few] = [number % size, out * 40];
        for (let at = one; at < Math.min(size, one + few); at++) {
          set.delete(at);
          plain.delete(at);
        }
        if (out === 0) {
          set.add(one);
          plain.add(one);
        }
        const from = (number * 7) % size;
        const expected = [...plain].filter((at) => at >= from).toSorted((a, b) => a - b)[0];
        expect(set.next(from)).toBe(expected);
      }
    }),
    { numRuns: 50 },
  );
});

test('a set of nothing has no member', () => {
  expect(new AddressSet(0).next(0)).toBeUndefined();
});

test('of sixteen million numbers the last is found at once', () => {
  const set = new AddressSet(2 ** 24);
  for (let at = 0; at < 2 ** 24 - 1; at++) set.delete(at);
  expect(set.next(0)).toBe(2 ** 24 - 1);
});
