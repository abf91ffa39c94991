import { beforeEach, describe, expect, test } from 'vitest';
import { Acceptance } from '#bootserver/acceptance.ts';
import { type SteppingClock, steppingClock } from '../fakes/clocks.ts';

const mac = '02:00:00:00:00:01';
const [own, other] = ['10.77.0.1', '10.77.0.9'];
let clock: SteppingClock;
let acceptance: Acceptance;

beforeEach(() => {
  clock = steppingClock(0);
  acceptance = new Acceptance(clock);
});

describe('where we give the addresses', () => {
  const offer = () => acceptance.offered(mac, 'full')?.text;

  test('the fourth offer that is not taken is told of, with what to look at, and then not for ten minutes', () => {
    expect([offer(), offer(), offer()]).toEqual([undefined, undefined, undefined]);
    expect(offer()).toMatch(/^4 offers in a row were not accepted: .*spanning tree.*option-60$/);
    expect(offer()).toBeUndefined();
    void clock.sleep(10 * 60_000);
    expect(offer()).toMatch(/^6 offers/);
  });

  test('a taken offer begins the count anew', () => {
    for (let round = 0; round < 5; round++) {
      expect([offer(), offer(), offer()].every((advice) => advice === undefined)).toBe(true);
      expect(acceptance.requested(mac, own, own, 'full')).toBeUndefined();
    }
  });

  test('a second DHCP server is named when the machine takes its address', () => {
    offer();
    expect(acceptance.requested(mac, other, own, 'full')?.text).toContain(
      'took the address of 10.77.0.9 and not ours',
    );
  });
});

describe('beside a server that gives them', () => {
  const round = () => {
    const advice = acceptance.offered(mac, 'proxy')?.text;
    acceptance.requested(mac, other, own, 'proxy');
    return advice;
  };

  test('firmware that takes the address and never comes for the file is told of in the third round', () => {
    expect([round(), round()]).toEqual([undefined, undefined]);
    expect(round()).toMatch(/^took an address of 10\.77\.0\.9 2 times and never came.*discovery-control/);
  });

  test('a machine that comes is none of these', () => {
    for (let at = 0; at < 10; at++) {
      expect(round()).toBeUndefined();
      acceptance.came(mac);
    }
  });

  test('a machine that nobody gives an address is told of', () => {
    const offers = Array.from({ length: 4 }, () => acceptance.offered(mac, 'proxy')?.text);
    expect(offers[3]).toContain('took no address of any server');
  });

  test('a machine that asks the proxy for an address is told of at once', () => {
    acceptance.offered(mac, 'proxy');
    expect(acceptance.requested(mac, own, own, 'proxy')?.text).toContain('the mode here is proxy');
  });
});
