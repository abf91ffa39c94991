import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateLimiter } from '#doors/rateLimiter.ts';

/** A limiter whose clock is moved by hand, in milliseconds. */
function limiter(rate = { perSecond: 2, burst: 3 }, maxKeys = 100) {
  const clock = { ms: 0 };
  return { clock, limits: new RateLimiter(rate, maxKeys, () => clock.ms) };
}

test('a burst, then as many as come back, and how long to wait', () => {
  const { clock, limits } = limiter();
  expect([1, 2, 3].map(() => limits.take('a'))).toEqual([0, 0, 0]);
  expect(limits.take('a')).toBe(0.5);
  clock.ms = 499;
  expect(limits.take('a')).toBeGreaterThan(0);
  clock.ms = 500;
  expect(limits.take('a')).toBe(0);
  expect(limits.take('a')).toBe(0.5);
});

test('one key does not pay for another', () => {
  const { limits } = limiter();
  for (let count = 0; count < 5; count++) limits.take('a');
  expect(limits.take('b')).toBe(0);
});

test('a charge makes a debt of one burst at most', () => {
  const { clock, limits } = limiter();
  limits.charge('a', 1000);
  expect(limits.take('a')).toBe(2);
  clock.ms = 2000;
  expect(limits.take('a')).toBe(0);
});

test('what costs nothing is refused all the same when nothing is left', () => {
  const { limits } = limiter();
  for (let count = 0; count < 100; count++) expect(limits.take('a', 0)).toBe(0);
  limits.charge('a', 3);
  expect(limits.take('a', 0)).toBe(0.5);
});

test('what is kept is bounded, and the key that was quiet longest is forgotten', () => {
  const { limits } = limiter({ perSecond: 1, burst: 1 }, 3);
  for (const key of ['a', 'b', 'c', 'a', 'd']) limits.take(key);
  expect(limits.size).toBe(3);
  expect([limits.take('a'), limits.take('d')].every((wait) => wait > 0)).toBe(true);
  expect(limits.take('b')).toBe(0);
});

test('nobody gets more than burst and time allow, whatever the order', () => {
  const steps = fc.array(fc.record({ ms: fc.nat(2000), tries: fc.nat(10) }), { maxLength: 30 });
  fc.assert(
    fc.property(
      steps,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      (all, burst, perSecond) => {
        const { clock, limits } = limiter({ perSecond, burst });
        let taken = 0;
        for (const { ms, tries } of all) {
          clock.ms += ms;
          for (let count = 0; count < tries; count++) if (limits.take('a') === 0) taken++;
        }
        expect(taken).toBeLessThanOrEqual(burst + (clock.ms / 1000) * perSecond + 1e-6);
      },
    ),
  );
});
