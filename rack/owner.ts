import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';

/**
 * Whose network namespaces a prefix are: the directory of the rack that made them. In /run, so that the note goes with
 * the namespaces when the host restarts.
 */
const folder = '/run/railhead-rack';

export async function claimPrefix(prefix: string, directory: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeDurably(noteFile(prefix), directory);
}

export async function releasePrefix(prefix: string): Promise<void> {
  await rm(noteFile(prefix), { force: true });
}

/** The directory of the rack that has this prefix. */
export async function prefixOwner(prefix: string): Promise<string | undefined> {
  try {
    return await readFile(noteFile(prefix), 'utf8');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

function noteFile(prefix: string): string {
  return path.join(folder, prefix);
}
