import { renameSync } from 'node:fs';
import { isENOENT } from '#base/errors.ts';
import type { Log } from '#base/log.ts';

/** SQLITE_CORRUPT and SQLITE_NOTADB (sqlite.org/rescode.html). */
const damaged: readonly unknown[] = [11, 26];

/**
 * Sets a file that is no database any more aside with its log, so that the site starts: without leases, which its clients ask for again; an address that
 * somebody still uses is found by its host's answer. @throws `error` itself when it says anything else
 */
export function setAside(file: string, error: unknown, log: Log): void {
  if (!damaged.includes((error as { errcode?: unknown }).errcode)) throw error;
  const suffix = `.damaged-${Date.now()}`;
  for (const part of ['', '-wal', '-shm']) renameIfThere(`${file}${part}`, `${file}${suffix}${part}`);
  log.error(
    { err: error, file, setAside: `${file}${suffix}` },
    'DHCP: the file of the leases is damaged and was set aside; leases begin anew: look at the disk',
  );
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isENOENT(error)) throw error;
  }
}
