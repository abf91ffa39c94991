import { expect, test } from 'vitest';
import { addressHolders } from '#bootserver/holders.ts';

const [leased, neighbour, told] = ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'];

const holders = addressHolders({
  networks: [
    { mode: 'full', subnet: { address: '10.77.0.0', prefixLength: 24 } },
    { mode: 'proxy', subnet: { address: '10.78.0.0', prefixLength: 24 } },
    { mode: '4011-only', subnet: { address: '10.79.0.0', prefixLength: 24 } },
  ],
  leases: { macAt: () => leased, leasedTo: (address) => (address.endsWith('.6') ? undefined : leased) },
  heard: { macAt: (address) => (address.endsWith('.9') ? undefined : told) },
  neighbours: () => new Map([['10.78.0.5', neighbour]]),
});

test('where we give the addresses our lease tells', () => {
  expect(holders.macAt('10.77.0.5')).toBe(leased);
  expect([holders.leasedTo('10.77.0.5'), holders.leasedTo('10.77.0.6')]).toEqual([leased, undefined]);
});

test('elsewhere the neighbour table tells, and never an old lease', () => {
  expect(holders.macAt('10.78.0.5')).toBe(neighbour);
  expect(holders.macAt('10.78.0.9')).toBeUndefined();
  expect([holders.leasedTo('10.78.0.5'), holders.leasedTo('10.78.0.9')]).toEqual([neighbour, undefined]);
});

test('behind a relay what the machine told its server tells', () => {
  expect(holders.macAt('10.79.0.7')).toBe(told);
});
