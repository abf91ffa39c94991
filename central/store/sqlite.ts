import type { Statement } from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { openSqlite, openSqliteReader, type Sqlite } from '#base/sqlite.ts';
import { migrations } from './migrations.ts';
import type { Tables } from './tables.ts';

/** How many compiled statements are kept for one connection. */
const keptStatements = 500;

/** The reading connection of each store that is a SQLite file. */
const readers = new WeakMap<Kysely<Tables>, Pick<Sqlite, 'prepare'>>();

/** Opens the books in one SQLite file, and brings their schema up to date. */
export function openSqliteStore(file: string): Kysely<Tables> {
  const database = openSqlite(file, migrations);
  const reader = openSqliteReader(file);
  const close = () => {
    reader.close();
    database.close();
  };
  const kept = { ...keepingStatements(database), close };
  const store = new Kysely<Tables>({ dialect: new Dialect({ database: kept as never }) });
  readers.set(store, keepingStatements(reader));
  return store;
}

/** A connection that only reads and sees only what is committed; undefined for a transaction, and for PostgreSQL. */
export function sqliteReader(store: Kysely<Tables>): Pick<Sqlite, 'prepare'> | undefined {
  return readers.get(store);
}

/** Compiles each statement once: that takes longer than most of them run. */
function keepingStatements(database: Sqlite): Pick<Sqlite, 'prepare'> {
  const kept = new Map<string, Statement>();
  const prepare = (sql: string) => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const [oldest] = kept.keys();
    if (kept.size >= keptStatements && oldest !== undefined) kept.delete(oldest);
    const statement = database.prepare(sql);
    kept.set(sql, statement);
    return statement;
  };
  return { prepare: prepare as Sqlite['prepare'] };
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
