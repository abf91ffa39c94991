import type { Sqlite } from '#base/sqlite.ts';
import type { EfiLoader } from '#contract/efiLoader.ts';

/** The boot loader of the disk that was deployed last on each node, as its ramdisk told. */
export interface DeployedLoaders {
  byNode(nodeId: string): EfiLoader | undefined;
  /** Takes the place of what is known; undefined: the disk that was deployed has none that firmware could search for. */
  put(nodeId: string, loader: EfiLoader | undefined): void;
}

export function openLoaders(database: Sqlite): DeployedLoaders {
  const find = database.prepare<[string], EfiLoader>(
    'SELECT esp_guid AS espGuid, path FROM deployed_loaders WHERE node_id = ?',
  );
  const insert = database.prepare(
    'INSERT OR REPLACE INTO deployed_loaders (node_id, esp_guid, path) VALUES (?, ?, ?)',
  );
  const remove = database.prepare('DELETE FROM deployed_loaders WHERE node_id = ?');
  return {
    byNode: (nodeId) => find.get(nodeId),
    put: (nodeId, loader) => {
      if (loader === undefined) remove.run(nodeId);
      else insert.run(nodeId, loader.espGuid, loader.path);
    },
  };
}
