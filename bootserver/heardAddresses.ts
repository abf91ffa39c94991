import type { Sqlite } from '#base/sqlite.ts';

/** Who has which address, where another server gives them: what the clients' own messages say. */
export interface HeardAddresses {
  /** The client told its server that it takes, or renews, this address. */
  heard(mac: string, address: string): void;
  macAt(address: string): string | undefined;
}

/** Addresses remembered; the one heard of longest ago goes first. */
const capacity = 16_384;

const schema = `
  CREATE TABLE IF NOT EXISTS dhcp_heard (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL UNIQUE,
    mac TEXT NOT NULL
  ) STRICT`;

/** Kept in the database: a machine whose boot a restart of the agent falls into is still known by its address. */
export function openHeardAddresses(database: Sqlite): HeardAddresses {
  database.exec(schema);
  const find = database.prepare<[string], { mac: string }>('SELECT mac FROM dhcp_heard WHERE address = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO dhcp_heard (address, mac) VALUES (?, ?)');
  const trim = database.prepare(
    'DELETE FROM dhcp_heard WHERE sequence <= (SELECT max(sequence) FROM dhcp_heard) - ?',
  );
  const macAt = (address: string) => find.get(address)?.mac;
  return {
    macAt,
    heard: (mac, address) => {
      if (macAt(address) === mac) return;
      insert.run(address, mac);
      trim.run(capacity);
    },
  };
}
