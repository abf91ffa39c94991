import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Where everything of the cache lies. A change of format is a new folder beside `v1`, not a migration. */
export interface CachePaths {
  readonly root: string;
  readonly artifacts: string;
  readonly temporaries: string;
  readonly index: string;
}

export function cachePaths(directory: string): CachePaths {
  const root = path.join(directory, 'v1');
  return {
    root,
    artifacts: path.join(root, 'sha256'),
    temporaries: path.join(root, 'tmp'),
    index: path.join(root, 'index.db'),
  };
}

/** `<dir>/v1/sha256/ab/abcdef…` */
export function artifactPath(paths: CachePaths, digest: string): string {
  return path.join(paths.artifacts, digest.slice(0, 2), digest);
}

/** Makes the folders and removes what a killed process left half written. */
export async function prepareFolders(paths: CachePaths): Promise<void> {
  await rm(paths.temporaries, { recursive: true, force: true });
  await mkdir(paths.temporaries, { recursive: true });
  await mkdir(paths.artifacts, { recursive: true });
}

/**
 * The digests that have a file, in no order. What is not named like an artifact is not ours and is left alone.
 */
export async function listArtifacts(paths: CachePaths): Promise<string[]> {
  const names = await readdir(paths.artifacts, { recursive: true });
  return names.flatMap((name) => {
    const digest = path.basename(name);
    return /^[0-9a-f]{64}$/.test(digest) && name === path.join(digest.slice(0, 2), digest) ? [digest] : [];
  });
}
