import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { keepNewest } from '#base/keepNewest.ts';
import { inWorkFolder } from '#base/workFolder.ts';

/** How many of a kind stay in the cache. */
export const kept = 6;

/** Files of a folder, read whole, by name. */
export type Files<Name extends string> = Record<Name, Buffer>;

/**
 * The named files of `directory`. When one is missing `make` is given a work folder whose sub-folder `result` becomes the
 * directory: it appears whole or not at all, and the work folder is gone afterwards.
 */
export async function cachedFiles<Name extends string>(
  directory: string,
  names: readonly Name[],
  make: (work: string, result: string) => Promise<void>,
): Promise<Files<Name>> {
  const found = await readFiles(directory, names);
  if (found !== undefined) {
    await keepNewest(path.dirname(directory), path.basename(directory), kept);
    return found;
  }
  await inWorkFolder(path.dirname(directory), async (work) => {
    const result = path.join(work, 'result');
    await mkdir(result);
    await make(work, result);
    await rm(directory, { recursive: true, force: true });
    await rename(result, directory);
  });
  await keepNewest(path.dirname(directory), path.basename(directory), kept);
  const made = await readFiles(directory, names);
  if (made === undefined) throw new Error(`${directory} is not complete after it was built`);
  return made;
}

async function readFiles<Name extends string>(
  directory: string,
  names: readonly Name[],
): Promise<Files<Name> | undefined> {
  try {
    const contents = await Promise.all(names.map((name) => readFile(path.join(directory, name))));
    return Object.fromEntries(names.map((name, index) => [name, contents[index]!])) as Files<Name>;
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}
