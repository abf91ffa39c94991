import { expect, test } from 'vitest';
import { Senders } from '#bootserver/syslog/senders.ts';

const machine = '10.77.0.100';
const macAt = (address: string) => (address === machine ? '02:00:00:00:00:01' : undefined);

test('a machine that writes without end is cut to a rate, which leaves others theirs', () => {
  let now = 0;
  const senders = new Senders(
    (address) => `mac of ${address}`,
    () => now,
  );
  const taken = (address: string, lines: number) =>
    Array.from({ length: lines }, () => senders.admit(address)).filter((mac) => mac !== undefined).length;
  expect(taken('10.77.0.1', 10_000)).toBe(1000);
  now += 2000;
  expect(taken('10.77.0.1', 10_000)).toBe(100);
  expect(taken('10.77.0.2', 500)).toBe(500);
  expect(senders.takeDropped()).toEqual({ unknown: 0, tooMany: 18_900 });
  expect(senders.takeDropped()).toEqual({ unknown: 0, tooMany: 0 });
});

test('a flood from made-up addresses costs few look-ups, and a machine that is heard already goes on being heard', () => {
  let now = 0;
  let lookUps = 0;
  const senders = new Senders(
    (address) => {
      lookUps++;
      return macAt(address);
    },
    () => now,
  );
  for (let second = 0; second < 9; second++) {
    expect(senders.admit(machine)).toBe('02:00:00:00:00:01');
    for (let at = 0; at < 5000; at++)
      expect(senders.admit(`10.${second}.${at >> 8}.${at & 255}`)).toBeUndefined();
    now += 1000;
  }
  expect(lookUps).toBeLessThan(500 + 9 * 100 + 1);
  expect(senders.takeDropped().unknown).toBe(45_000);
});

test('an address that goes to another machine is soon that machine’s', () => {
  let now = 0;
  let holder = 'first';
  const senders = new Senders(
    () => holder,
    () => now,
  );
  expect(senders.admit(machine)).toBe('first');
  holder = 'second';
  now += 10_000;
  expect(senders.admit(machine)).toBe('second');
});
