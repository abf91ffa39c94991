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
import type { Tables } from './tables.ts';

/** Opens the books in one SQLite file, and brings their schema up to date. */
export function openSqliteStore(file: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new Dialect({ database: openSqlite(file, migrations) as never }) });
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
