import { DatabaseSync } from 'node:sqlite';
import type { Sqlite } from '#base/sqlite.ts';
import type { Lease } from './leases.ts';

/** A lease as a row of the table. */
export type LeaseRow = [address: string, client: string, state: Lease['state'], expiresAt: number];

/** With a write-ahead log each commit syncs once, and is on stable storage then. */
export const leaseSchema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS dhcp_lease (
    address TEXT PRIMARY KEY,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`;

/**
 * What the file of the leases holds, the lease that ends first at first; the file is made when there is none. Leases that an older
 * version kept in `former` are moved here. Nothing else has the file open meanwhile.
 * @throws the driver's error
 */
export function readLeaseFile(file: string, former: Sqlite): Lease[] {
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    database.exec(leaseSchema);
    moveFrom(former, database);
    const rows = database
      .prepare('SELECT address, client, state, expires_at FROM dhcp_lease ORDER BY expires_at')
      .all() as { address: string; client: string; state: Lease['state']; expires_at: number }[];
    return rows.map(({ address, client, state, expires_at }) => ({
      ...{ key: client, address, state },
      expiresAt: expires_at,
    }));
  } finally {
    database.close();
  }
}

/** Copied and committed before they are dropped: whatever ends us between, the next start does the rest. */
function moveFrom(former: Sqlite, database: DatabaseSync): void {
  const isThere = former.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'dhcp_lease'").get() !== undefined;
  if (!isThere) return;
  const rows = former
    .prepare('SELECT address, client, state, expires_at FROM dhcp_lease')
    .raw()
    .all() as LeaseRow[];
  const insert = database.prepare('INSERT OR IGNORE INTO dhcp_lease VALUES (?, ?, ?, ?)');
  database.exec('BEGIN');
  for (const row of rows) insert.run(...row);
  database.exec('COMMIT');
  former.exec('DROP TABLE dhcp_lease');
}
