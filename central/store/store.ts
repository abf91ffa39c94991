import { type Kysely, PostgresAdapter, type Transaction } from 'kysely';
import { databaseOf } from './database.ts';
import { openPostgresStore } from './postgres.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Tables } from './tables.ts';

export { isDuplicate } from './failures.ts';

/** The centre's books. A running centre and the host's commands may have them open at once. */
export type Store = Kysely<Tables>;

/** A database handle inside or outside a transaction. */
export type Queries = Kysely<Tables> | Transaction<Tables>;

/**
 * Opens the books of the centre in `directory`, wherever it keeps them, and brings their schema up to date.
 * @throws RailheadError UNAVAILABLE when PostgreSQL cannot be reached; the driver's error, e.g. SQLITE_NOTADB
 */
export async function openStore(directory: string): Promise<Store> {
  const database = databaseOf(directory);
  return database.dialect === 'sqlite' ? openSqliteStore(database.file) : openPostgresStore(database.url);
}

/** Which database is behind `queries`, for the few statements that differ. */
export function dialectOf(queries: Queries): 'sqlite' | 'postgres' {
  return queries.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

export function now(): string {
  return new Date().toISOString();
}

/** Texts of later times begin with a sign, and do not sort by time any more. */
const latestTime = Date.parse('9999-12-31T23:59:59.999Z');

/** The time `milliseconds` from now; the end of the year 9999 for what is beyond. */
export function fromNow(milliseconds: number): string {
  return new Date(Math.min(Date.now() + milliseconds, latestTime)).toISOString();
}

export function parseJson<Value>(text: string | null): Value | undefined {
  return text === null ? undefined : (JSON.parse(text) as Value);
}

export function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
