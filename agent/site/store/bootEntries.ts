import type { Sqlite } from '#base/sqlite.ts';
import type { BootEntry } from '#contract/bootEntry.ts';

/** What this site serves to which machine on its next network boot. A node has at most one entry, and so has a MAC. */
export interface BootEntries {
  /** Puts an entry, and how the centre signed it, in the place of the node's, and of every other that names one of its MACs. */
  put(entry: BootEntry, jws: string): void;
  /** The entry of a machine, unless it has expired at `now` (milliseconds). */
  byMac(mac: string, now: number): BootEntry | undefined;
  byNode(nodeId: string): BootEntry | undefined;
  /** The signed form of an entry. */
  signed(entryId: string): string | undefined;
  /** True when there was one. */
  remove(nodeId: string): boolean;
  all(): BootEntry[];
  /** Forgets entries that expired before `before` (milliseconds). */
  prune(before: number): void;
}

type Row = { document: string };

export function openBootEntries(database: Sqlite): BootEntries {
  const insert = database.prepare(
    'INSERT INTO boot_entries (entry_id, node_id, document, jws, expires_at) VALUES (?, ?, ?, ?, ?)',
  );
  const insertMac = database.prepare('INSERT INTO boot_entry_macs (mac, entry_id) VALUES (?, ?)');
  const displace = database.prepare(
    `DELETE FROM boot_entries WHERE entry_id = @entryId OR node_id = @nodeId
     OR entry_id IN (SELECT entry_id FROM boot_entry_macs JOIN json_each(@macs) ON mac = value)`,
  );
  const byMac = database.prepare<[string, number], Row>(
    'SELECT document FROM boot_entries JOIN boot_entry_macs USING (entry_id) WHERE mac = ? AND expires_at > ?',
  );
  const signed = database.prepare<[string], { jws: string }>(
    'SELECT jws FROM boot_entries WHERE entry_id = ?',
  );
  const byNode = database.prepare<[string], Row>('SELECT document FROM boot_entries WHERE node_id = ?');
  const remove = database.prepare('DELETE FROM boot_entries WHERE node_id = ?');
  const prune = database.prepare('DELETE FROM boot_entries WHERE expires_at < ?');
  const all = database.prepare<[], Row>('SELECT document FROM boot_entries ORDER BY entry_id');
  return {
    put: database.transaction((entry: BootEntry, jws: string) => {
      const { entryId, nodeId, macs } = entry;
      displace.run({ entryId, nodeId, macs: JSON.stringify(macs) });
      insert.run(entryId, nodeId, JSON.stringify(entry), jws, Date.parse(entry.expiresAt));
      for (const mac of new Set(macs)) insertMac.run(mac, entryId);
    }),
    byMac: (mac, now) => parsed(byMac.get(mac, now)),
    byNode: (nodeId) => parsed(byNode.get(nodeId)),
    signed: (entryId) => signed.get(entryId)?.jws,
    remove: (nodeId) => remove.run(nodeId).changes === 1,
    prune: (before) => void prune.run(before),
    all: () => all.all().map((row) => JSON.parse(row.document)),
  };
}

function parsed(row: Row | undefined): BootEntry | undefined {
  return row && JSON.parse(row.document);
}
