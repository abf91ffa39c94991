import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '#base/log.ts';
import { silentLog } from '#base/log.ts';
import { openSqlite, type Sqlite } from '#base/sqlite.ts';
import { type Lease, Leases, type LeaseTable } from '#bootserver/dhcp/leases.ts';
import { network } from './bench.ts';

const far = { subnet: { address: '10.79.0.0', prefixLength: 24 } };

function temporaryFile(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'leases-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return path.join(directory, 'leases.db');
}

function open(database: Sqlite, log: Log = silentLog()): { leases: Leases; table: LeaseTable } {
  const leases = new Leases(database, [network, far], log);
  return { leases, table: leases.of(network) };
}

const lease = (change: Partial<Lease> = {}): Lease => ({
  key: '1/02:00:00:00:00:01',
  address: '10.77.0.100',
  state: 'bound',
  expiresAt: 5000,
  ...change,
});
const stored = (leases: Leases) => new Promise<void>((resolve) => leases.whenStored(resolve));

test('a bound lease is there after a restart, an offer is not', async () => {
  const file = temporaryFile();
  const first = openSqlite(file, []);
  const { leases, table: before } = open(first);
  before.apply({ set: lease() });
  before.apply({ set: lease({ key: '1/02:00:00:00:00:02', address: '10.77.0.101', state: 'offered' }) });
  before.apply({ set: lease({ key: '1/02:00:00:00:00:03', address: '10.77.0.102', state: 'declined' }) });
  leases.close();
  first.close();
  const { table: after } = open(openSqlite(file, []));
  expect(after.ofClient('1/02:00:00:00:00:01')).toEqual(lease());
  expect(after.at('10.77.0.101')).toBeUndefined();
  expect(after.at('10.77.0.102')?.state).toBe('declined');
  expect(after.ofClient('1/02:00:00:00:00:03')).toBeUndefined();
  expect([...after.unusedFrom('10.77.0.102')]).toEqual(['10.77.0.103', '10.77.0.101']);
});

test('what waits for a lease goes on once it is in the file, and leases given together are committed together', async () => {
  const file = temporaryFile();
  const database = openSqlite(file, []);
  const { leases, table } = open(database);
  table.apply({ set: lease() });
  table.apply({ set: lease({ key: '1/02:00:00:00:00:02', address: '10.77.0.101' }) });
  const other = openSqlite(file, []);
  expect(open(other).table.at('10.77.0.100')).toBeUndefined();
  await stored(leases);
  expect(open(other).table.at('10.77.0.100')).toEqual(lease());
  expect(open(other).table.at('10.77.0.101')).toBeDefined();
});

test('nothing waits when all is stored', () => {
  let ran = false;
  open(openSqlite(temporaryFile(), [])).leases.whenStored(() => (ran = true));
  expect(ran).toBe(true);
});

test('while leases cannot be stored nobody is told of them; then they are', async () => {
  const database = openSqlite(temporaryFile(), []);
  const said: string[] = [];
  const log = { error: (_: object, text: string) => said.push(text) } as unknown as Log;
  const { leases, table } = open(database, log);
  database.pragma('query_only = ON');
  table.apply({ set: lease() });
  let told = false;
  leases.whenStored(() => (told = true));
  await expect.poll(() => said).toEqual(['DHCP: leases cannot be stored, so they are not given']);
  expect(told).toBe(false);
  database.pragma('query_only = OFF');
  table.apply({ set: lease({ key: '1/02:00:00:00:00:02', address: '10.77.0.101' }) });
  await stored(leases);
  expect(open(database).table.at('10.77.0.100')).toEqual(lease());
});

test('a client has one address in a network: a new one frees the former', async () => {
  const { leases, table } = open(openSqlite(temporaryFile(), []));
  leases.of(far).apply({ set: lease({ address: '10.79.0.5' }) });
  table.apply({ set: lease() });
  table.apply({ set: lease({ address: '10.77.0.101' }) });
  expect(table.at('10.77.0.100')).toBeUndefined();
  expect(table.ofClient('1/02:00:00:00:00:01')?.address).toBe('10.77.0.101');
  expect(leases.of(far).ofClient('1/02:00:00:00:00:01')?.address).toBe('10.79.0.5');
  await stored(leases);
});

test('a client that takes over an expired address leaves no trace of the former one', async () => {
  const { leases, table } = open(openSqlite(temporaryFile(), []));
  table.apply({ set: lease() });
  table.apply({ set: lease({ key: '1/02:00:00:00:00:02' }) });
  expect(table.ofClient('1/02:00:00:00:00:01')).toBeUndefined();
  expect(leases.macAt('10.77.0.100')).toBe('02:00:00:00:00:02');
  await stored(leases);
});

test('only an Ethernet client has a MAC', async () => {
  const { leases, table } = open(openSqlite(temporaryFile(), []));
  table.apply({ set: lease({ key: 'id/ff00' }) });
  expect(leases.macAt('10.77.0.100')).toBeUndefined();
  expect(leases.macAt('192.0.2.1')).toBeUndefined();
  await stored(leases);
});
