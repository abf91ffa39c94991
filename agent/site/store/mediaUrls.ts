import { randomBytes } from 'node:crypto';
import type { Sqlite } from '#base/sqlite.ts';

/** What may be read by the URL of a medium, and for whose BMC that was made. */
export interface MediaGrant {
  nodeId: string;
  digest: string;
}

/**
 * The images that BMCs read here, each by a token that only its URL has. A node has one at a time, which outlives restarts as the mount does;
 * while another one is mounted, and after that has failed, it has both, since its BMC may still read the one before.
 */
export interface MediaUrls {
  /** The token of the node's medium: the same one for the same image. */
  grant(grant: MediaGrant): string;
  find(token: string): MediaGrant | undefined;
  /** The node's BMC has mounted this one: the tokens of others end. */
  mounted(grant: MediaGrant): void;
  end(nodeId: string): void;
  /** Ends those of nodes that are not of this site any more. */
  keepOnly(nodeIds: ReadonlySet<string>): void;
}

export function openMediaUrls(database: Sqlite): MediaUrls {
  type Row = MediaGrant & { token: string };
  const all = database.prepare<[], Row>('SELECT token, node_id AS nodeId, digest FROM media_grants');
  const find = database.prepare<[string], MediaGrant>(
    'SELECT node_id AS nodeId, digest FROM media_grants WHERE token = ?',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO media_grants (node_id, digest, token) VALUES (@nodeId, @digest, @token)',
  );
  const endOthers = database.prepare(
    'DELETE FROM media_grants WHERE node_id = @nodeId AND digest != @digest',
  );
  const end = database.prepare('DELETE FROM media_grants WHERE node_id = ?');
  return {
    grant: ({ nodeId, digest }) => {
      const known = all.all().find((row) => row.nodeId === nodeId && row.digest === digest);
      if (known !== undefined) return known.token;
      const token = randomBytes(16).toString('hex');
      put.run({ nodeId, digest, token });
      return token;
    },
    find: (token) => find.get(token),
    mounted: (grant) => void endOthers.run(grant),
    end: (nodeId) => void end.run(nodeId),
    keepOnly: (nodeIds) => {
      for (const { nodeId } of all.all()) if (!nodeIds.has(nodeId)) end.run(nodeId);
    },
  };
}
