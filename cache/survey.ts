import { stat } from 'node:fs/promises';
import { isENOENT } from '#base/errors.ts';
import type { Holdings } from './holdings.ts';
import { artifactPath, type CachePaths, listArtifacts } from './path.ts';
import { type FileStamp, sameStamp } from './read.ts';

/** Files looked at at a time. */
const atOnce = 64;

/**
 * Compares what the index says with the files that are there: what agrees is held from now on, records without a file are dropped, and
 * the files that no record vouches for are returned.
 */
export async function survey(
  paths: CachePaths,
  holdings: Holdings,
  onFault: (error: unknown) => void,
): Promise<Map<string, FileStamp>> {
  const remembered = holdings.remembered();
  const unproven = new Map<string, FileStamp>();
  for (const [digest, stamp] of await stamps(paths, onFault)) {
    const record = remembered.get(digest);
    if (record !== undefined && sameStamp(record, stamp)) holdings.keep(record);
    else unproven.set(digest, stamp);
  }
  holdings.forgetAll([...remembered.keys()].filter((digest) => holdings.get(digest) === undefined));
  return unproven;
}

async function stamps(
  paths: CachePaths,
  onFault: (error: unknown) => void,
): Promise<[digest: string, stamp: FileStamp][]> {
  const digests = await listArtifacts(paths).catch((error) => {
    onFault(error);
    return [];
  });
  const found: [string, FileStamp][] = [];
  for (let at = 0; at < digests.length; at += atOnce) {
    const some = digests.slice(at, at + atOnce).map(async (digest) => {
      const stamp = await stampOf(artifactPath(paths, digest), onFault);
      if (stamp !== undefined) found.push([digest, stamp]);
    });
    await Promise.all(some);
  }
  return found;
}

async function stampOf(file: string, onFault: (error: unknown) => void): Promise<FileStamp | undefined> {
  try {
    const { size, mtimeNs } = await stat(file, { bigint: true });
    return { sizeBytes: Number(size), mtimeNs };
  } catch (error) {
    if (!isENOENT(error)) onFault(error);
    return undefined;
  }
}
