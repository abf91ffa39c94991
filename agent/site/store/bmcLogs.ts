import type { Sqlite } from '#base/sqlite.ts';
import type { LogMark } from '#contract/bmcLog.ts';

/** How far the event log of each node's BMC has been read. */
export interface BmcLogs {
  /** Undefined for a BMC at another address: its log is another. */
  find(nodeId: string, address: string): LogMark | undefined;
  keep(nodeId: string, address: string, mark: LogMark): void;
  /** Forgets all but these nodes. */
  retain(nodeIds: readonly string[]): void;
}

export function openBmcLogs(database: Sqlite): BmcLogs {
  const find = database.prepare<[string, string], { mark: string }>(
    'SELECT mark FROM bmc_logs WHERE node_id = ? AND address = ?',
  );
  const keep = database.prepare('INSERT OR REPLACE INTO bmc_logs (node_id, address, mark) VALUES (?, ?, ?)');
  const retain = database.prepare(
    'DELETE FROM bmc_logs WHERE node_id NOT IN (SELECT value FROM json_each(?))',
  );
  return {
    find: (nodeId, address) => {
      const row = find.get(nodeId, address);
      return row && (JSON.parse(row.mark) as LogMark);
    },
    keep: (nodeId, address, mark) => void keep.run(nodeId, address, JSON.stringify(mark)),
    retain: (nodeIds) => void retain.run(JSON.stringify(nodeIds)),
  };
}
