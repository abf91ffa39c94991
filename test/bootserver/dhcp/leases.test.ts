import { expect, test } from 'vitest';
import { type Lease, Leases, type LeaseTable } from '#bootserver/dhcp/leases.ts';
import { network } from './bench.ts';
import { MemoryLeases } from './memoryLeases.ts';

const far = { subnet: { address: '10.79.0.0', prefixLength: 24 } };

function open(store = new MemoryLeases()): { leases: Leases; table: LeaseTable } {
  const leases = new Leases(store, [network, far]);
  return { leases, table: leases.of(network) };
}

const lease = (change: Partial<Lease> = {}): Lease => ({
  key: '1/02:00:00:00:00:01',
  address: '10.77.0.100',
  state: 'bound',
  expiresAt: 5000,
  ...change,
});

test('a bound lease is there after a restart, an offer is not', () => {
  const store = new MemoryLeases();
  const { table: before } = open(store);
  before.apply({ set: lease() });
  before.apply({ set: lease({ key: '1/02:00:00:00:00:02', address: '10.77.0.101', state: 'offered' }) });
  before.apply({ set: lease({ key: '1/02:00:00:00:00:03', address: '10.77.0.102', state: 'declined' }) });
  const { table: after } = open(store);
  expect(after.ofClient('1/02:00:00:00:00:01')).toEqual(lease());
  expect(after.at('10.77.0.101')).toBeUndefined();
  expect(after.at('10.77.0.102')?.state).toBe('declined');
  expect(after.ofClient('1/02:00:00:00:00:03')).toBeUndefined();
  expect([...after.unusedFrom('10.77.0.102')]).toEqual(['10.77.0.103', '10.77.0.101']);
});

test('a client has one address in a network: a new one frees the former', () => {
  const { leases, table } = open();
  leases.of(far).apply({ set: lease({ address: '10.79.0.5' }) });
  table.apply({ set: lease() });
  table.apply({ set: lease({ address: '10.77.0.101' }) });
  expect(table.at('10.77.0.100')).toBeUndefined();
  expect(table.ofClient('1/02:00:00:00:00:01')?.address).toBe('10.77.0.101');
  expect(leases.of(far).ofClient('1/02:00:00:00:00:01')?.address).toBe('10.79.0.5');
});

test('a client that takes over an expired address leaves no trace of the former one', () => {
  const { leases, table } = open();
  table.apply({ set: lease() });
  table.apply({ set: lease({ key: '1/02:00:00:00:00:02' }) });
  expect(table.ofClient('1/02:00:00:00:00:01')).toBeUndefined();
  expect(leases.macAt('10.77.0.100')).toBe('02:00:00:00:00:02');
});

test('only an Ethernet client has a MAC', () => {
  const { leases, table } = open();
  table.apply({ set: lease({ key: 'id/ff00' }) });
  expect(leases.macAt('10.77.0.100')).toBeUndefined();
  expect(leases.macAt('192.0.2.1')).toBeUndefined();
});

test('an address is leased to who took it, for its time; an offer or a lease given back is none', () => {
  const { leases, table } = open();
  const leasedTo = (state: Lease['state'], now = 999) => {
    table.apply({ set: lease({ state, expiresAt: 1000 }) });
    return leases.leasedTo('10.77.0.100', now);
  };
  expect([leasedTo('offered'), leasedTo('bound'), leasedTo('bound', 1000), leasedTo('released')]).toEqual([
    undefined,
    '02:00:00:00:00:01',
    undefined,
    undefined,
  ]);
});

test('an address that other hardware has with the same six bytes is not the machine’s', () => {
  const { leases, table } = open();
  table.apply({ set: lease({ key: '6/02:00:00:00:00:01' }) });
  expect([leases.macAt('10.77.0.100'), leases.leasedTo('10.77.0.100', 0)]).toEqual([undefined, undefined]);
});
