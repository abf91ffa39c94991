import { describe, expect, test } from 'vitest';
import { fuzz } from './fuzz.ts';
import { nextInput } from './mutate.ts';
import { randomFrom } from './random.ts';
import type { FuzzTarget } from './target.ts';
import { loadTarget, targetNames } from './targets/index.ts';
import { mostMs } from './trial.ts';

describe('every parser bears what is thrown at it', () => {
  test.each(targetNames)('%s', async (name) => {
    const { failures } = await fuzz(await loadTarget(name), { inputs: 1000, seed: 1 });
    expect(failures.map(({ message, input }) => ({ message, input: input.toString('hex') }))).toEqual([]);
  });
});

describe('the fuzzer itself', () => {
  const fragile: FuzzTarget = {
    seeds: [Buffer.from('a harmless input with a number: 17')],
    longest: 256,
    run(input) {
      if (input.includes('4294967296')) throw new RangeError('too large');
    },
  };

  test('finds a fault, tells it once and cuts its input to what is needed', async () => {
    const { failures } = await fuzz(fragile, { inputs: 5000, seed: 1 });
    expect(failures.map(({ what, input }) => [what, input.toString()])).toEqual([
      ['exception', '4294967296'],
    ]);
  });

  test('takes a declared error for an answer', async () => {
    const declares = (error: unknown) => error instanceof RangeError;
    expect((await fuzz({ ...fragile, declares }, { inputs: 5000, seed: 1 })).failures).toEqual([]);
  });

  test('calls an input slow that takes too much processor time', async () => {
    const busy: FuzzTarget = {
      ...fragile,
      run(input) {
        const before = process.threadCpuUsage();
        while (input.includes('+') && process.threadCpuUsage(before).user < 1000 * (mostMs + 50));
      },
    };
    const { failures } = await fuzz({ ...busy, seeds: [Buffer.from('+')] }, { inputs: 1, seed: 1 });
    expect(failures.map(({ what }) => what)).toEqual(['slow']);
  });

  test('makes the same inputs of the same seed, and none longer than allowed', () => {
    const made = () => {
      const random = randomFrom(7);
      return Array.from({ length: 2000 }, () => nextInput(random, fragile.seeds, fragile.longest));
    };
    const inputs = made();
    expect(inputs.map((input) => input.toString('hex'))).toEqual(
      made().map((input) => input.toString('hex')),
    );
    expect(Math.max(...inputs.map((input) => input.length))).toBe(fragile.longest);
  });
});
