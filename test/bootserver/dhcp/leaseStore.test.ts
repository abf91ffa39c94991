import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Log, silentLog } from '#base/log.ts';
import { openSqlite } from '#base/sqlite.ts';
import { readLeaseFile } from '#bootserver/dhcp/leaseFile.ts';
import { LeaseStore } from '#bootserver/dhcp/leaseStore.ts';
import type { Lease } from '#bootserver/dhcp/leases.ts';

let directory: string;
let files = 0;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'leases-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function temporaryFile(): string {
  return path.join(directory, `${files++}.db`);
}

function open(file: string, log: Log = silentLog()): LeaseStore {
  const store = new LeaseStore(file, new Database(':memory:'), log);
  onTestFinished(() => store.close());
  return store;
}

const lease = (last: number, change: Partial<Lease> = {}): Lease => ({
  ...{ key: `1/02:00:00:00:00:0${last}`, address: `10.77.0.10${last}`, state: 'bound', expiresAt: last },
  ...change,
});
const stored = (store: LeaseStore) => new Promise<void>((resolve) => store.whenStored(resolve));

/** By the SQLite that the store uses: another one in this process would break its locks. */
function addressesIn(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare('SELECT address FROM dhcp_lease ORDER BY address').all();
  database.close();
  return rows.map((row) => String(row.address));
}

test('what waits for a lease goes on once it is in the file, and leases given together are committed together', async () => {
  const file = temporaryFile();
  const store = open(file);
  store.set(lease(1));
  store.set(lease(2));
  expect(addressesIn(file)).toEqual([]);
  await stored(store);
  expect(addressesIn(file)).toEqual(['10.77.0.101', '10.77.0.102']);
});

test('what waits for nothing new waits for the commit that runs', async () => {
  const file = temporaryFile();
  const store = open(file);
  store.set(lease(1));
  // The commit has begun, and is not done.
  await delay(3);
  await stored(store);
  expect(addressesIn(file)).toEqual(['10.77.0.101']);
});

test('nothing waits when all is stored', () => {
  let ran = false;
  open(temporaryFile()).whenStored(() => {
    ran = true;
  });
  expect(ran).toBe(true);
});

test('when it closes, what was given and erased until then is stored', async () => {
  const file = temporaryFile();
  const store = open(file);
  store.set(lease(1));
  await stored(store);
  store.set(lease(2));
  store.erase('10.77.0.101');
  await store.close();
  expect(open(file).stored).toEqual([lease(2)]);
});

test('while leases cannot be stored nobody is told of them; then they are', async () => {
  const file = temporaryFile();
  const said: string[] = [];
  const say = (_: object | string, text?: string) => said.push(text ?? String(_));
  const store = open(file, { error: say, info: say } as unknown as Log);
  store.set(lease(1));
  await stored(store);
  // As a full disk does, and a file that some other program holds: no commit works.
  const other = new DatabaseSync(file);
  other.exec("CREATE TRIGGER full BEFORE INSERT ON dhcp_lease BEGIN SELECT RAISE(ABORT, 'full'); END");
  store.set(lease(2));
  let told = false;
  store.whenStored(() => {
    told = true;
  });
  await expect.poll(() => said).toEqual(['DHCP: leases cannot be stored, so they are not given']);
  expect(told).toBe(false);
  other.exec('DROP TRIGGER full');
  other.close();
  await stored(store);
  expect(addressesIn(file)).toEqual(['10.77.0.101', '10.77.0.102']);
  expect(said.at(-1)).toBe('DHCP: leases can be stored again');
});

test('a thread that has ended is replaced', async () => {
  const folder = path.join(directory, 'elsewhere');
  mkdirSync(folder);
  const said: string[] = [];
  const say = (_: object | string, text?: string) => said.push(text ?? String(_));
  const store = open(path.join(folder, 'leases.db'), { error: say, info: say } as unknown as Log);
  renameSync(folder, `${folder}.away`);
  store.set(lease(1));
  await expect.poll(() => said).toEqual(['DHCP: leases cannot be stored, so they are not given']);
  renameSync(`${folder}.away`, folder);
  await stored(store);
  expect(addressesIn(path.join(folder, 'leases.db'))).toEqual(['10.77.0.101']);
});

test('a damaged file is set aside, said, and leases begin anew', async () => {
  const file = temporaryFile();
  writeFileSync(file, Buffer.alloc(8192, 0xaa));
  const said: object[] = [];
  const log = { ...silentLog(), error: (facts: object) => said.push(facts) } as unknown as Log;
  const store = open(file, log);
  expect(store.stored).toEqual([]);
  expect(said).toMatchObject([{ file, setAside: expect.stringMatching(/\.damaged-\d+$/) }]);
  store.set(lease(1));
  await stored(store);
  expect(addressesIn(file)).toEqual(['10.77.0.101']);
});

test('leases of an older version are moved once, also when a crash came between copy and removal', () => {
  const file = temporaryFile();
  const former = openSqlite(temporaryFile(), []);
  const make = () =>
    former.exec(`CREATE TABLE dhcp_lease (address TEXT PRIMARY KEY, client TEXT NOT NULL, state TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT;
      INSERT INTO dhcp_lease VALUES ('10.77.0.101', '1/02:00:00:00:00:01', 'bound', 1)`);
  make();
  expect(readLeaseFile(file, former)).toEqual([lease(1)]);
  expect(former.prepare('SELECT name FROM sqlite_schema').all()).toEqual([]);
  // The copy was committed, the removal was not.
  make();
  expect(readLeaseFile(file, former)).toEqual([lease(1)]);
  expect(readLeaseFile(file, former)).toEqual([lease(1)]);
});

test('killed at any moment, no lease is lost that somebody was told of, and the file is whole', async () => {
  const file = temporaryFile();
  const told = new Set<string>();
  for (let turn = 0; turn < 5; turn++) {
    const program = path.join(import.meta.dirname, 'leaseStoreProcess.ts');
    const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const output = text(child.stdout);
    await once(child.stdout, 'readable');
    await delay(Math.random() * 150);
    child.kill('SIGKILL');
    // The last line may be cut.
    for (const address of (await output).split('\n').slice(0, -1)) told.add(address);
    const kept = new Set(addressesIn(file));
    expect([...told].filter((address) => !kept.has(address))).toEqual([]);
  }
  expect(told.size).toBeGreaterThan(100);
  const database = new DatabaseSync(file);
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.close();
});
