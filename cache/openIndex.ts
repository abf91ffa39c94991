import { readFileSync, renameSync, rmSync } from 'node:fs';
import { systemCode } from '#base/errors.ts';
import { openSqlite, openSqliteCopy, type Sqlite } from '#base/sqlite.ts';
import type { Damage, HeldRecord } from './heldIndex.ts';

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
  // Of records of before it is not known: their files are hashed once.
  `
  ALTER TABLE held ADD COLUMN ctime_ns TEXT NOT NULL DEFAULT '0';
  ALTER TABLE held ADD COLUMN ino TEXT NOT NULL DEFAULT '0';
  `,
];

/** What an index remembers. */
export interface Remembered {
  held: HeldRecord[];
  damages: Damage[];
}

export type OpenIndex = Remembered & { database: Sqlite };

interface Row {
  digest: string;
  ref: string;
  size_bytes: number;
  mtime_ns: string;
  ctime_ns: string;
  ino: string;
  used_at: number;
  verified_at: number;
}

/**
 * Opens the index and reads it, whatever state it and its disk are in: nothing in it is worth a cache that does not start, for all of it can be
 * found out again. One that cannot be read, of a newer release too, is set aside as `index.db.unusable` and made anew; where the disk takes no
 * write (full, read-only, failing) a copy in memory stands in until the next start. `onFault` is told why.
 */
export function openIndex(file: string, onFault: (error: unknown) => void): OpenIndex {
  try {
    return opened(openOnDisk(file));
  } catch (error) {
    onFault(error);
    return isDiskRefusal(error) ? inMemory(file) : renewed(file, onFault);
  }
}

/**
 * A power cut may take the last transactions, never the order of them: what is lost costs a reading of a file, and a record of a file that
 * is gone, or of another one, vouches for nothing. So no commit waits for the disk that images are read from.
 */
function openOnDisk(file: string): Sqlite {
  const database = openSqlite(file, migrations);
  database.pragma('synchronous = NORMAL');
  return database;
}

function inMemory(file: string): OpenIndex {
  try {
    return opened(openSqliteCopy(readFileSync(file), migrations));
  } catch {
    return opened(openSqlite(':memory:', migrations));
  }
}

function renewed(file: string, onFault: (error: unknown) => void): OpenIndex {
  try {
    renameSync(file, `${file}.unusable`);
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    return opened(openOnDisk(file));
  } catch (error) {
    onFault(error);
    return opened(openSqlite(':memory:', migrations));
  }
}

function opened(database: Sqlite): OpenIndex {
  try {
    const held = database.prepare<[], Row>('SELECT * FROM held').all().map(recordOf);
    const damages = database.prepare<[], Damage>('SELECT digest, ref, at, reason, found FROM damaged').all();
    return { database, held, damages };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** @throws SyntaxError for a row that this program did not write */
function recordOf({ digest, ref, size_bytes: sizeBytes, used_at: usedAt, ...row }: Row): HeldRecord {
  const [mtimeNs, ctimeNs, ino] = [BigInt(row.mtime_ns), BigInt(row.ctime_ns), BigInt(row.ino)];
  return { digest, ref, sizeBytes, mtimeNs, ctimeNs, ino, usedAt, verifiedAt: row.verified_at };
}

/** The disk takes no write, or does not give back what it has; the index itself may be whole. */
function isDiskRefusal(error: unknown): boolean {
  return /^SQLITE_(CANTOPEN|FULL|IOERR|READONLY|PERM|BUSY|LOCKED)/.test(systemCode(error) ?? '');
}
