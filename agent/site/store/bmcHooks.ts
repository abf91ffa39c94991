import { randomBytes } from 'node:crypto';
import type { Sqlite } from '#base/sqlite.ts';

/** What each BMC proves itself by when it posts its events. It is worth a look at that BMC and nothing else. */
export interface BmcHooks {
  /** The node's token, which is made when there is none. */
  tokenOf(nodeId: string): string;
  ownerOf(token: string): string | undefined;
  /** What the URL begins with that the node's BMC was last told to post to. */
  placeOf(nodeId: string): string | undefined;
  /** Undefined: its BMC has no subscription of this site any more. */
  keepPlace(nodeId: string, prefix: string | undefined): void;
  /** Forgets all but these nodes'. */
  retain(nodeIds: readonly string[]): void;
}

export function openBmcHooks(database: Sqlite): BmcHooks {
  const find = database.prepare<[string], { token: string }>('SELECT token FROM bmc_hooks WHERE node_id = ?');
  const make = database.prepare('INSERT INTO bmc_hooks (node_id, token) VALUES (?, ?)');
  const owner = database.prepare<[string], { node_id: string }>(
    'SELECT node_id FROM bmc_hooks WHERE token = ?',
  );
  const place = database.prepare<[string], { place: string | null }>(
    'SELECT place FROM bmc_hooks WHERE node_id = ?',
  );
  const keepPlace = database.prepare('UPDATE bmc_hooks SET place = ? WHERE node_id = ?');
  const retain = database.prepare(
    'DELETE FROM bmc_hooks WHERE node_id NOT IN (SELECT value FROM json_each(?))',
  );
  return {
    tokenOf: (nodeId) => {
      const known = find.get(nodeId)?.token;
      if (known !== undefined) return known;
      const token = randomBytes(24).toString('base64url');
      make.run(nodeId, token);
      return token;
    },
    ownerOf: (token) => owner.get(token)?.node_id,
    placeOf: (nodeId) => place.get(nodeId)?.place ?? undefined,
    keepPlace: (nodeId, prefix) => void keepPlace.run(prefix ?? null, nodeId),
    retain: (nodeIds) => void retain.run(JSON.stringify(nodeIds)),
  };
}
