import type { Sqlite } from '#base/sqlite.ts';
import type { OkpJwk } from '#contract/join.ts';
import { hashToken, newToken } from './bootTokens.ts';

/** A ramdisk that has joined. */
export interface Session {
  nodeId: string;
  mac: string;
  bootId: string;
  /** The key that its results are signed with. */
  signingKey: OkpJwk;
  /** Thumbprint of both its keys: tells the same agent, started again, from another. */
  claimedBy: string;
  /** Milliseconds. */
  joinedAt: number;
}

/** The sessions of machines, kept hashed. A node has one at a time. */
export interface Sessions {
  /** Opens the node's session in the place of any other and returns its bearer text. */
  open(session: Session): string;
  find(bearer: string): Session | undefined;
  byNode(nodeId: string): Session | undefined;
  end(nodeId: string): void;
  endAll(): void;
}

interface Row {
  node_id: string;
  mac: string;
  boot_id: string;
  signing_key: string;
  claimed_by: string;
  joined_at: number;
}

export function openSessions(database: Sqlite): Sessions {
  const insert = database.prepare(
    `INSERT INTO sessions (hash, node_id, mac, boot_id, signing_key, claimed_by, joined_at)
     VALUES (@hash, @nodeId, @mac, @bootId, @signingKey, @claimedBy, @joinedAt)`,
  );
  const find = database.prepare<[string], Row>('SELECT * FROM sessions WHERE hash = ?');
  const byNode = database.prepare<[string], Row>('SELECT * FROM sessions WHERE node_id = ?');
  const end = database.prepare('DELETE FROM sessions WHERE node_id = ?');
  const endAll = database.prepare('DELETE FROM sessions');
  return {
    open: database.transaction((session: Session) => {
      const bearer = newToken();
      end.run(session.nodeId);
      insert.run({ ...session, hash: hashToken(bearer), signingKey: JSON.stringify(session.signingKey) });
      return bearer;
    }),
    find: (bearer) => parsed(find.get(hashToken(bearer))),
    byNode: (nodeId) => parsed(byNode.get(nodeId)),
    end: (nodeId) => void end.run(nodeId),
    endAll: () => void endAll.run(),
  };
}

function parsed(row: Row | undefined): Session | undefined {
  if (row === undefined) return undefined;
  return {
    nodeId: row.node_id,
    mac: row.mac,
    bootId: row.boot_id,
    signingKey: JSON.parse(row.signing_key),
    claimedBy: row.claimed_by,
    joinedAt: row.joined_at,
  };
}
