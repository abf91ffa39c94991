import { readFileSync, rmSync } from 'node:fs';
import { openSqlite, openSqliteCopy, type Sqlite } from '#base/sqlite.ts';

const migrations = [
  `CREATE TABLE held (
    digest TEXT PRIMARY KEY,
    ref TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    mtime_ns TEXT NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT`,
  `
  ALTER TABLE held ADD COLUMN verified_at INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE damaged (
    digest TEXT PRIMARY KEY,
    ref TEXT NOT NULL,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    found TEXT NOT NULL
  ) STRICT;
  `,
];

/**
 * Opens the index, whatever state it and its disk are in: a damaged one is made anew, and where the disk takes no write (full, read-only,
 * failing) a copy in memory stands in until the next start. `onFault` is told why.
 */
export function openIndex(file: string, onFault: (error: unknown) => void): Sqlite {
  try {
    return openSqlite(file, migrations);
  } catch (error) {
    if (!isSqliteCode(error, '')) throw error;
    onFault(error);
    return isDamage(error) ? rebuilt(file, onFault) : inMemory(file);
  }
}

/** Everything in a damaged index can be found out again. */
function rebuilt(file: string, onFault: (error: unknown) => void): Sqlite {
  try {
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    return openSqlite(file, migrations);
  } catch (error) {
    onFault(error);
    return openSqlite(':memory:', migrations);
  }
}

function inMemory(file: string): Sqlite {
  try {
    return openSqliteCopy(readFileSync(file), migrations);
  } catch {
    return openSqlite(':memory:', migrations);
  }
}

function isDamage(error: unknown): boolean {
  return isSqliteCode(error, 'NOTADB') || isSqliteCode(error, 'CORRUPT');
}

function isSqliteCode(error: unknown, start: string): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith(`SQLITE_${start}`);
}
