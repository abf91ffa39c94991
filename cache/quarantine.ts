import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '#base/durableFile.ts';
import { artifactPath, type CachePaths, listQuarantine, quarantinePath } from './path.ts';
import { stampAt } from './stamp.ts';

/** Takes a damaged artifact out of sight, for a look at it: under its name there is nothing afterwards. */
export async function moveToQuarantine(paths: CachePaths, digest: string): Promise<void> {
  const file = artifactPath(paths, digest);
  const target = quarantinePath(paths, digest);
  await mkdir(paths.quarantine, { recursive: true });
  // A folder makes no way for a file, nor a file for a folder.
  await rm(target, { recursive: true, force: true });
  await rename(file, target);
  await syncDirectory(path.dirname(file));
}

/** Removes what is in quarantine; returns the bytes that this frees. */
export async function emptyQuarantine(paths: CachePaths): Promise<number> {
  let freed = 0;
  for (const digest of await listQuarantine(paths)) {
    const file = quarantinePath(paths, digest);
    freed += await sizeOf(file);
    await rm(file, { recursive: true, force: true });
  }
  return freed;
}

/** Bytes in quarantine. */
export async function quarantineBytes(paths: CachePaths): Promise<number> {
  const sizes = (await listQuarantine(paths)).map((digest) => sizeOf(quarantinePath(paths, digest)));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** 0 of what went meanwhile. */
async function sizeOf(file: string): Promise<number> {
  return (await stampAt(file))?.sizeBytes ?? 0;
}
