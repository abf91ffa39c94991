import { rmSync } from 'node:fs';
import { openSqlite, type Sqlite } from '#base/sqlite.ts';
import type { FileStamp } from './read.ts';

const migrations = [
  `CREATE TABLE held (
    digest TEXT PRIMARY KEY,
    ref TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    mtime_ns TEXT NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT`,
];

/** One artifact whose bytes were hashed while its file had this stamp. */
export interface HeldRecord extends FileStamp {
  digest: string;
  ref: string;
  /** Milliseconds since the epoch. */
  usedAt: number;
}

interface Row {
  digest: string;
  ref: string;
  size_bytes: number;
  mtime_ns: string;
  used_at: number;
}

/**
 * What is known of the files beside what they say themselves. A file whose stamp has its record was hashed
 * before and is not hashed again; the others are. So the index may be lost at any time: it costs one reading of
 * the files.
 */
export class HeldIndex {
  readonly #database: Sqlite;

  constructor(file: string) {
    this.#database = openOrRebuild(file);
  }

  all(): HeldRecord[] {
    return this.#database.prepare<[], Row>('SELECT * FROM held').all().map(recordOf);
  }

  put({ digest, ref, sizeBytes, mtimeNs, usedAt }: HeldRecord): void {
    this.#database
      .prepare(
        'INSERT OR REPLACE INTO held (digest, ref, size_bytes, mtime_ns, used_at) VALUES (?, ?, ?, ?, ?)',
      )
      .run(digest, ref, sizeBytes, String(mtimeNs), usedAt);
  }

  remove(digest: string): void {
    this.#database.prepare('DELETE FROM held WHERE digest = ?').run(digest);
  }

  close(): void {
    this.#database.close();
  }
}

function recordOf(row: Row): HeldRecord {
  const { digest, ref } = row;
  return { digest, ref, sizeBytes: row.size_bytes, mtimeNs: BigInt(row.mtime_ns), usedAt: row.used_at };
}

/** A damaged index is no reason to stop: everything in it can be found out again. */
function openOrRebuild(file: string): Sqlite {
  try {
    return openSqlite(file, migrations);
  } catch (error) {
    if (!isDamage(error)) throw error;
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    return openSqlite(file, migrations);
  }
}

function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT');
}
