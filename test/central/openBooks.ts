import { rm } from 'node:fs/promises';
import { openStore, type Store } from '#central/store/store.ts';
import { centreDirectory } from './directory.ts';

/** Empty books of a centre without the centre; `close` removes them. */
export async function openBooks(): Promise<{ store: Store; close(): Promise<void> }> {
  const directory = await centreDirectory();
  const store = await openStore(directory);
  return {
    store,
    close: async () => {
      await store.destroy();
      await rm(directory, { recursive: true });
    },
  };
}
