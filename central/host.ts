import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { type CentralKeys, makeMissingKeys, noCentre, openKeys } from './join/keys.ts';
import { databaseFile, openStore, type Store } from './store/store.ts';

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
  if (!existsSync(databaseFile(directory))) throw noCentre(directory, databaseFile(directory));
  const store = openStore(directory);
  try {
    return await work({ store, keys });
  } finally {
    await store.destroy();
  }
}

/** Makes what a centre's directory lacks, keys and database; returns the names of the keys that are new. */
export async function makeCentre(directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const made = await makeMissingKeys(directory);
  await openStore(directory).destroy();
  return made;
}
