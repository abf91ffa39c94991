import type { Sqlite } from '#base/sqlite.ts';
import { newServerDuid } from './duid.ts';

/** The server's DUID, made once and kept: clients renew their leases with the server that has it (RFC 8415 §11). */
export function keptServerDuid(database: Sqlite): Buffer {
  database.exec('CREATE TABLE IF NOT EXISTS dhcp6_server (duid BLOB NOT NULL) STRICT');
  const row = database.prepare<[], { duid: Buffer }>('SELECT duid FROM dhcp6_server').get();
  if (row !== undefined) return row.duid;
  const duid = newServerDuid();
  database.prepare('INSERT INTO dhcp6_server VALUES (?)').run(duid);
  return duid;
}
