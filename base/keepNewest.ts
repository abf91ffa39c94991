import { readdir, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { sweepWorkFolders } from './workFolder.ts';

/**
 * Keeps a cache folder small: `used` counts as used now, and all but the `count` entries used last are removed, and abandoned work
 * folders. Safe while other processes do the same.
 */
export async function keepNewest(directory: string, used: string, count: number): Promise<void> {
  const now = new Date();
  await utimes(path.join(directory, used), now, now);
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.'));
  const entries = await Promise.all(
    names.map(async (name) => ({ name, time: await usedAt(path.join(directory, name)) })),
  );
  for (const { name } of entries.sort((a, b) => b.time - a.time).slice(count))
    await rm(path.join(directory, name), { recursive: true, force: true });
  await sweepWorkFolders(directory);
}

/** Milliseconds since 1970; 0 for what another process has just removed. */
function usedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
