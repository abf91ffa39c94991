import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const prefix = '.partial-';
const abandonedAfterMs = 3_600_000;

/** Runs `work` with an empty folder in `parent`, which is made when it is missing. The folder is gone afterwards. */
export async function inWorkFolder<Result>(
  parent: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(path.join(parent, prefix));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the work folders in `parent` that killed processes left: those that nobody has touched for an hour. */
export async function sweepWorkFolders(parent: string, now = Date.now()): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => path.join(parent, name))) {
    const touched = await stat(folder).catch(() => undefined);
    if (touched !== undefined && now - touched.mtimeMs > abandonedAfterMs)
      await rm(folder, { recursive: true, force: true });
  }
}
