import { randomBytes } from 'node:crypto';
import type { Sqlite } from '#base/sqlite.ts';

/** What may be read by the URL of a medium, and for whose BMC that was made. */
export interface MediaGrant {
  nodeId: string;
  digest: string;
}

/** The images that BMCs read here, each by a token that only its URL has. A node has one at a time, which outlives restarts as the mount does. */
export interface MediaUrls {
  /** The token of the node's medium: the same one for the same image. */
  grant(grant: MediaGrant): string;
  find(token: string): MediaGrant | undefined;
  end(nodeId: string): void;
  /** Ends those of nodes that are not of this site any more. */
  keepOnly(nodeIds: ReadonlySet<string>): void;
}

export function openMediaUrls(database: Sqlite): MediaUrls {
  type Row = MediaGrant & { token: string };
  const all = database.prepare<[], Row>('SELECT token, node_id AS nodeId, digest FROM media_urls');
  const find = database.prepare<[string], MediaGrant>(
    'SELECT node_id AS nodeId, digest FROM media_urls WHERE token = ?',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO media_urls (node_id, digest, token) VALUES (@nodeId, @digest, @token)',
  );
  const end = database.prepare('DELETE FROM media_urls WHERE node_id = ?');
  return {
    grant: ({ nodeId, digest }) => {
      const known = all.all().find((row) => row.nodeId === nodeId && row.digest === digest);
      if (known !== undefined) return known.token;
      const token = randomBytes(16).toString('hex');
      put.run({ nodeId, digest, token });
      return token;
    },
    find: (token) => find.get(token),
    end: (nodeId) => void end.run(nodeId),
    keepOnly: (nodeIds) => {
      for (const { nodeId } of all.all()) if (!nodeIds.has(nodeId)) end.run(nodeId);
    },
  };
}
