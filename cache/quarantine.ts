import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '#base/durableFile.ts';
import { artifactPath, type CachePaths, listQuarantine, quarantinePath } from './path.ts';

/** Takes a damaged artifact out of sight, for a look at it: under its name there is nothing afterwards. */
export async function moveToQuarantine(paths: CachePaths, digest: string): Promise<void> {
  const file = artifactPath(paths, digest);
  await mkdir(paths.quarantine, { recursive: true });
  await rename(file, quarantinePath(paths, digest));
  await syncDirectory(path.dirname(file));
}

/** Removes what is in quarantine; returns the bytes that this frees. */
export async function emptyQuarantine(paths: CachePaths): Promise<number> {
  let freed = 0;
  for (const digest of await listQuarantine(paths)) {
    const file = quarantinePath(paths, digest);
    freed += (await stat(file)).size;
    await rm(file, { force: true });
  }
  return freed;
}

/** Bytes in quarantine. */
export async function quarantineBytes(paths: CachePaths): Promise<number> {
  const sizes = (await listQuarantine(paths)).map(
    async (digest) => (await stat(quarantinePath(paths, digest))).size,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
