import type { HeldRecord } from './heldIndex.ts';
import type { Holdings } from './holdings.ts';
import { artifactPath, type CachePaths, listArtifacts } from './path.ts';
import { type FileStamp, sameStamp, stampAt } from './stamp.ts';

/** Files looked at at a time. */
const atOnce = 64;

/**
 * Compares what the index says with the files that are there: what agrees is held from now on, records without a file are dropped, and
 * what no record vouches for is unproven. A disk that does not say what it has leaves the records as they are.
 */
export async function survey(
  paths: CachePaths,
  holdings: Holdings,
  now: number,
  onFault: (error: unknown) => void,
): Promise<void> {
  const remembered = holdings.remembered();
  const found = await stamps(paths, onFault);
  if (found === undefined) return;
  for (const [digest, stamp] of found) {
    const record = remembered.get(digest);
    if (record !== undefined && sameStamp(record, stamp)) holdings.keep(notAfter(now, record));
    else holdings.doubt(digest, stamp);
  }
  holdings.dropRecords([...remembered.keys()].filter((digest) => holdings.get(digest) === undefined));
}

/** A clock that was wrong, or is now: what lies ahead would never be read again, nor go when room is needed. */
function notAfter(now: number, record: HeldRecord): HeldRecord {
  const { usedAt, verifiedAt } = record;
  return { ...record, usedAt: Math.min(usedAt, now), verifiedAt: Math.min(verifiedAt, now) };
}

/** Undefined when nobody can say; `onFault` is told. */
async function stamps(
  paths: CachePaths,
  onFault: (error: unknown) => void,
): Promise<[digest: string, stamp: FileStamp][] | undefined> {
  const digests = await listArtifacts(paths).catch(onFault);
  if (digests === undefined) return undefined;
  const found: [string, FileStamp][] = [];
  for (let at = 0; at < digests.length; at += atOnce) {
    const some = digests.slice(at, at + atOnce).map(async (digest) => {
      const stamp = await stampAt(artifactPath(paths, digest)).catch(onFault);
      if (stamp) found.push([digest, stamp]);
    });
    await Promise.all(some);
  }
  return found;
}
