import Database from 'better-sqlite3';

export type Sqlite = Database.Database;

/**
 * Opens one SQLite file for one process: WAL, every commit on stable storage, foreign keys on, then the migrations that
 * it has not had. `migrations[n]` takes the schema from version n to n + 1 and is never edited after a release.
 * @throws the driver's error, e.g. SQLITE_NOTADB
 */
export function openSqlite(file: string, migrations: readonly string[]): Sqlite {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma('busy_timeout = 5000');
  migrate(database, migrations);
  return database;
}

/**
 * What the bytes of a SQLite file hold, in memory: for a file on a disk that takes no write. What its write-ahead log holds beside it is not
 * in it.
 * @throws the driver's error, e.g. SQLITE_NOTADB
 */
export function openSqliteCopy(content: Buffer, migrations: readonly string[]): Sqlite {
  const copy = Buffer.from(content);
  // Read and write version 1: without a write-ahead log (https://www.sqlite.org/fileformat2.html, 1.3.3).
  if (copy.length > 19) copy.fill(1, 18, 20);
  const database = new Database(copy);
  migrate(database, migrations);
  return database;
}

/** A connection beside the one that writes: it sees what is committed, and nothing of a transaction that runs. */
export function openSqliteReader(file: string): Sqlite {
  const database = new Database(file, { readonly: true });
  database.pragma('busy_timeout = 5000');
  return database;
}

/** Whether the database itself failed or refused: full, busy, broken, a constraint. `code` says which. */
export function isSqliteError(error: unknown): error is Database.SqliteError {
  return error instanceof Database.SqliteError;
}

function migrate(database: Sqlite, migrations: readonly string[]): void {
  const from = database.pragma('user_version', { simple: true }) as number;
  if (from > migrations.length) {
    database.close();
    throw new Error(
      `the database has schema version ${from}, this program knows ${migrations.length}: install the newer version again`,
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < from) continue;
    database.transaction(() => {
      database.exec(sql);
      database.pragma(`user_version = ${index + 1}`);
    })();
  }
}
