import { mkdir } from 'node:fs/promises';
import { type CentralKeys, openKeys } from './join/keys.ts';
import { openStore, type Store } from './store/store.ts';

/** The centre's directory as the commands on its host use it, whether the centre runs or not. */
export interface CentralHost {
  store: Store;
  keys: CentralKeys;
}

/** Opens a centre's directory for the time of `work`. */
export async function onHost<Value>(
  directory: string,
  work: (host: CentralHost) => Promise<Value>,
): Promise<Value> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const keys = await openKeys(directory);
  const store = openStore(directory);
  try {
    return await work({ store, keys });
  } finally {
    await store.destroy();
  }
}
