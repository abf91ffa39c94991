import path from 'node:path';
import { Kysely, SqliteDialect, type Transaction } from 'kysely';
import { openSqlite } from '#base/sqlite.ts';
import { migrations } from './migrations.ts';
import type { Tables } from './tables.ts';

/** The centre's database. A running centre and the host's commands may have it open at once. */
export type Store = Kysely<Tables>;

/** A database handle inside or outside a transaction. */
export type Queries = Kysely<Tables> | Transaction<Tables>;

export function databaseFile(directory: string): string {
  return path.join(directory, 'central.db');
}

export function openStore(directory: string): Store {
  const database = openSqlite(databaseFile(directory), migrations);
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: database as never }) });
}

/** Whether a database error says that a row with this key exists already. */
export function isDuplicate(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

export function now(): string {
  return new Date().toISOString();
}

/** The time `milliseconds` from now. */
export function fromNow(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}

export function parseJson<Value>(text: string | null): Value | undefined {
  return text === null ? undefined : (JSON.parse(text) as Value);
}

export function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
