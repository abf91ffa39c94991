import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '#base/durableFile.ts';
import { ignore, isENOENT } from '#base/errors.ts';

/** Where everything of the cache lies. A change of format is a new folder beside `v1`, not a migration. */
export interface CachePaths {
  readonly root: string;
  readonly artifacts: string;
  readonly temporaries: string;
  /** What was held and turned out to be damaged, for a look. */
  readonly quarantine: string;
  readonly index: string;
}

export function cachePaths(directory: string): CachePaths {
  const root = path.join(directory, 'v1');
  return {
    root,
    artifacts: path.join(root, 'sha256'),
    temporaries: path.join(root, 'tmp'),
    quarantine: path.join(root, 'quarantine'),
    index: path.join(root, 'index.db'),
  };
}

/** `<dir>/v1/sha256/ab/abcdef…` */
export function artifactPath(paths: CachePaths, digest: string): string {
  return path.join(paths.artifacts, digest.slice(0, 2), digest);
}

/** `<dir>/v1/quarantine/abcdef…`: the newest of a digest is kept. */
export function quarantinePath(paths: CachePaths, digest: string): string {
  return path.join(paths.quarantine, digest);
}

/**
 * Makes the folders, on stable storage before anything is written into them, and removes what a killed process left half written.
 * @throws the file system's error, e.g. EROFS
 */
export async function prepareFolders(paths: CachePaths): Promise<void> {
  await rm(paths.temporaries, { recursive: true, force: true });
  for (const folder of [paths.temporaries, paths.artifacts, paths.quarantine])
    await mkdir(folder, { recursive: true });
  await syncDirectory(paths.root);
  await syncDirectory(path.dirname(paths.root));
  // Not ours, and perhaps not ours to open.
  await syncDirectory(path.dirname(path.dirname(paths.root))).catch(ignore);
}

/**
 * The digests that have a file, in no order. What is not named like an artifact is not ours and is left alone.
 */
export async function listArtifacts(paths: CachePaths): Promise<string[]> {
  const names = await namesIn(paths.artifacts, { recursive: true });
  return names.flatMap((name) => {
    const digest = path.basename(name);
    return isDigest(digest) && name === path.join(digest.slice(0, 2), digest) ? [digest] : [];
  });
}

/** The digests that have a file in quarantine. */
export async function listQuarantine(paths: CachePaths): Promise<string[]> {
  return (await namesIn(paths.quarantine, { recursive: false })).filter(isDigest);
}

function isDigest(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

async function namesIn(folder: string, options: { recursive: boolean }): Promise<string[]> {
  try {
    return await readdir(folder, options);
  } catch (error) {
    if (isENOENT(error)) return [];
    throw error;
  }
}
