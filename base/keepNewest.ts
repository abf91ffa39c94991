import { readdir, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';

const hour = 3_600_000;

/**
 * Keeps a cache folder small: `used` counts as used now, and all but the `count` entries used last are removed. What a killed
 * build left half-done (names starting with `.partial-`) goes after an hour. Safe while other processes do the same.
 */
export async function keepNewest(directory: string, used: string, count: number): Promise<void> {
  const now = new Date();
  await utimes(path.join(directory, used), now, now);
  const entries = await Promise.all(
    (await readdir(directory)).map(async (name) => ({
      name,
      time: await usedAt(path.join(directory, name)),
    })),
  );
  const partial = entries.filter(({ name }) => name.startsWith('.'));
  const whole = entries.filter(({ name }) => !name.startsWith('.')).sort((a, b) => b.time - a.time);
  const stale = partial.filter(({ time }) => time < now.getTime() - hour);
  for (const { name } of [...whole.slice(count), ...stale])
    await rm(path.join(directory, name), { recursive: true, force: true });
}

/** Milliseconds since 1970; 0 for what another process has just removed. */
function usedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
