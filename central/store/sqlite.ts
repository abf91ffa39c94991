import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { openSqlite } from '#base/sqlite.ts';
import { migrations } from './migrations.ts';
import { type SqliteReader, sqliteReaderOf } from './sqliteReader.ts';
import { keepingStatements } from './statements.ts';
import type { Tables } from './tables.ts';

/** How the reads that happen on many calls are made, of each store that is a SQLite file. */
const readers = new WeakMap<Kysely<Tables>, SqliteReader>();

/** Opens the books in one SQLite file, and brings their schema up to date. */
export function openSqliteStore(file: string): Kysely<Tables> {
  const database = openSqlite(file, migrations);
  const reader = sqliteReaderOf(file);
  const { prepare } = keepingStatements(database);
  const connection = {
    prepare: (sql: string) => {
      reader.forget();
      return prepare(sql);
    },
    close: () => {
      reader.close();
      database.close();
    },
  };
  const store = new Kysely<Tables>({ dialect: new Dialect({ database: connection as never }) });
  readers.set(store, reader);
  return store;
}

/** Undefined for a transaction, which must see its own writes, and for PostgreSQL. */
export function sqliteReader(store: Kysely<Tables>): SqliteReader | undefined {
  return readers.get(store);
}

class Dialect extends SqliteDialect {
  readonly #config: ConstructorParameters<typeof SqliteDialect>[0];

  constructor(config: ConstructorParameters<typeof SqliteDialect>[0]) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config);
  }
}

/**
 * A transaction takes the right to write when it begins. One that reads first and writes later would be refused at once with
 * SQLITE_BUSY_SNAPSHOT when another process, such as a command on the host, has written in between.
 */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}
