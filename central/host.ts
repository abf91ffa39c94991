import { mkdir } from 'node:fs/promises';
import { type CentralKeys, makeMissingKeys, noCentre, openKeys } from './join/keys.ts';
import { hasDatabase, recordDatabase, sqliteFile } from './store/database.ts';
import { openStore, type Store } from './store/store.ts';

/** The centre's directory as the commands on its host use it, whether the centre runs or not. */
export interface CentralHost {
  store: Store;
  keys: CentralKeys;
}

/**
 * Opens a centre's directory for the time of `work`. It makes nothing: a mistyped directory must not become a second CA.
 * @throws RailheadError NOT_FOUND when no centre was made there
 */
export async function onHost<Value>(
  directory: string,
  work: (host: CentralHost) => Promise<Value>,
): Promise<Value> {
  const keys = await openKeys(directory);
  if (!hasDatabase(directory)) throw noCentre(directory, sqliteFile(directory));
  const store = await openStore(directory);
  try {
    return await work({ store, keys });
  } finally {
    await store.destroy();
  }
}

/**
 * Makes what a centre's directory lacks, keys and database; returns the names of the keys that are new. `database` is the URL of
 * the PostgreSQL database that it is to keep its books in; without one, it stays with what it has.
 */
export async function makeCentre(directory: string, database?: string): Promise<string[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (database !== undefined) await recordDatabase(directory, database);
  const made = await makeMissingKeys(directory);
  await (await openStore(directory)).destroy();
  return made;
}
