import { openSqliteReader } from '#base/sqlite.ts';
import { keepingStatements } from './statements.ts';

/**
 * Reads one row at a time on a connection beside the one that writes: what is committed, and nothing of a transaction that runs.
 * The reads of one turn of the event loop share a snapshot, since to lock the file costs more than to read a row.
 */
export interface SqliteReader {
  get(sql: string, parameters: readonly unknown[]): unknown;
  /** To be called before anything is written, so that the next read sees it. */
  forget(): void;
  close(): void;
}

export function sqliteReaderOf(file: string): SqliteReader {
  const database = openSqliteReader(file);
  const { prepare } = keepingStatements(database);
  const forget = () => {
    if (database.inTransaction) prepare('COMMIT').run();
  };
  const get = (sql: string, parameters: readonly unknown[]) => {
    if (!database.inTransaction) {
      prepare('BEGIN').run();
      setImmediate(() => database.open && forget());
    }
    return prepare(sql).get(...parameters);
  };
  return { get, forget, close: () => database.close() };
}
