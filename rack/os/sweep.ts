import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const abandonedAfterMs = 60 * 60 * 1000;

/** Removes what builds that were killed have left: working folders that nobody has touched for an hour. */
export async function sweepPartials(directory: string, now = Date.now()): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith('partial-')) continue;
    const partial = path.join(directory, name);
    const touched = await stat(partial).catch(() => undefined);
    if (touched !== undefined && now - touched.mtimeMs > abandonedAfterMs)
      await rm(partial, { recursive: true, force: true });
  }
}
