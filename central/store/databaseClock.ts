import { type Expression, sql } from 'kysely';
import { dialectOf, fromNow, type Queries } from './store.ts';

/**
 * The time `milliseconds` from now by the clock of the database, which those who share one have in common; with SQLite that is the
 * clock of this host.
 */
export function databaseTime(queries: Queries, milliseconds = 0): Expression<string> {
  if (dialectOf(queries) === 'sqlite') return sql<string>`${fromNow(milliseconds)}`;
  const at = sql`clock_timestamp() + ${milliseconds} * interval '1 millisecond'`;
  return sql<string>`to_char((${at}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
