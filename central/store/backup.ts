import { existsSync } from 'node:fs';
import { chmod, link, mkdtemp, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '#base/durableFile.ts';
import { isEEXIST } from '#base/errors.ts';
import { openSqliteReader } from '#base/sqlite.ts';
import { RailheadError } from '#contract/errors.ts';
import { databaseOf } from './database.ts';

/** A copy of the books that can take their place. */
export interface Backup {
  file: string;
  sizeBytes: number;
  schemaVersion: number;
}

/**
 * Copies the SQLite books of the centre in `directory` to the new file `destination`, while it runs: the copy is of one moment, is
 * opened and checked, and is on stable storage when this resolves. The keys are not in it.
 * @throws RailheadError UNSUPPORTED for books in PostgreSQL, NOT_FOUND without books, CONFLICT when `destination` exists
 */
export async function backUpBooks(directory: string, destination: string): Promise<Backup> {
  const source = sqliteBooks(directory);
  const target = path.resolve(destination);
  if (existsSync(target)) throw taken(target);
  const folder = path.dirname(target);
  const scratch = await mkdtemp(path.join(folder, '.railhead-backup-'));
  try {
    const copy = path.join(scratch, 'central.db');
    copyOfOneMoment(source, copy);
    await chmod(copy, 0o600);
    const found = { file: target, sizeBytes: await synced(copy), schemaVersion: checkedVersion(copy) };
    await link(copy, target).catch((error) => {
      throw isEEXIST(error) ? taken(target) : error;
    });
    await syncDirectory(folder);
    return found;
  } finally {
    await rm(scratch, { recursive: true });
  }
}

function sqliteBooks(directory: string): string {
  const database = databaseOf(directory);
  if (database.dialect === 'postgres')
    throw new RailheadError('UNSUPPORTED', 'these books are in PostgreSQL: back them up with pg_dump', {
      reason: 'postgres',
    });
  if (existsSync(database.file)) return database.file;
  throw new RailheadError('NOT_FOUND', `there is no centre in ${directory}: name its directory`, {
    path: 'directory',
    missing: database.file,
  });
}

/** One reading transaction: writers go on beside it, and what they write is not in the copy. */
function copyOfOneMoment(source: string, copy: string): void {
  const database = openSqliteReader(source);
  try {
    database.prepare('VACUUM INTO ?').run(copy);
  } finally {
    database.close();
  }
}

function checkedVersion(copy: string): number {
  const database = openSqliteReader(copy);
  try {
    const verdict = database.pragma('integrity_check', { simple: true });
    if (verdict !== 'ok') throw new Error(`the copy is not sound: ${verdict}`);
    return database.pragma('user_version', { simple: true }) as number;
  } finally {
    database.close();
  }
}

async function synced(file: string): Promise<number> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

function taken(file: string): RailheadError {
  return new RailheadError('CONFLICT', `${file} exists already: name a new file`, { path: 'destination' });
}
