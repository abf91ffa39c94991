import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '#base/sqlite.ts';
import { type Lease, LeaseTable } from '#bootserver/dhcp/leases.ts';

function temporaryFile(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'leases-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return path.join(directory, 'leases.db');
}

const lease = (change: Partial<Lease> = {}): Lease => ({
  key: '1/02:00:00:00:00:01',
  address: '10.77.0.100',
  state: 'bound',
  expiresAt: 5000,
  ...change,
});

test('a bound lease is there after a restart, an offer is not', () => {
  const file = temporaryFile();
  const first = openSqlite(file, []);
  const before = new LeaseTable(first);
  before.apply({ set: lease() });
  before.apply({ set: lease({ key: '1/02:00:00:00:00:02', address: '10.77.0.101', state: 'offered' }) });
  before.apply({ set: lease({ key: '1/02:00:00:00:00:03', address: '10.77.0.102', state: 'declined' }) });
  first.close();
  const after = new LeaseTable(openSqlite(file, []));
  expect(after.ofClient('1/02:00:00:00:00:01')).toEqual(lease());
  expect(after.at('10.77.0.101')).toBeUndefined();
  expect(after.at('10.77.0.102')?.state).toBe('declined');
  expect(after.ofClient('1/02:00:00:00:00:03')).toBeUndefined();
});

test('a bound lease is in the file as soon as it is applied', () => {
  const file = temporaryFile();
  new LeaseTable(openSqlite(file, [])).apply({ set: lease() });
  expect(new LeaseTable(openSqlite(file, [])).at('10.77.0.100')).toEqual(lease());
});

test('a client has one address: a new one frees the former', () => {
  const table = new LeaseTable(openSqlite(temporaryFile(), []));
  table.apply({ set: lease() });
  table.apply({ set: lease({ address: '10.77.0.101' }) });
  expect(table.at('10.77.0.100')).toBeUndefined();
  expect(table.ofClient('1/02:00:00:00:00:01')?.address).toBe('10.77.0.101');
});

test('a client that takes over an expired address leaves no trace of the former one', () => {
  const table = new LeaseTable(openSqlite(temporaryFile(), []));
  table.apply({ set: lease() });
  table.apply({ set: lease({ key: '1/02:00:00:00:00:02' }) });
  expect(table.ofClient('1/02:00:00:00:00:01')).toBeUndefined();
  expect(table.macAt('10.77.0.100')).toBe('02:00:00:00:00:02');
});

test('only an Ethernet client has a MAC', () => {
  const table = new LeaseTable(openSqlite(temporaryFile(), []));
  table.apply({ set: lease({ key: 'id/ff00' }) });
  expect(table.macAt('10.77.0.100')).toBeUndefined();
});
