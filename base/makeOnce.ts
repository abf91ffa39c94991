import { rename } from 'node:fs/promises';
import path from 'node:path';
import { exists } from './exists.ts';
import { inWorkFolder } from './workFolder.ts';

/**
 * Returns `target`, a file or folder whose name says what is in it, and makes it when it is not there. `make` works in a folder beside it
 * and returns the path in there of what it made: so the target appears whole or not at all.
 * @throws what `make` throws, unless another process has made the target meanwhile
 */
export async function makeOnce(target: string, make: (work: string) => Promise<string>): Promise<string> {
  if (await exists(target)) return target;
  try {
    await inWorkFolder(path.dirname(target), async (work) => rename(await make(work), target));
  } catch (error) {
    // Another process may have been first: what it made is the same.
    if (!(await exists(target))) throw error;
  }
  return target;
}
