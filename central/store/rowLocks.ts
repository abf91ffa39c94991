import type { SelectQueryBuilder } from 'kysely';
import { dialectOf, type Queries } from './store.ts';
import type { Tables } from './tables.ts';

/**
 * Locks the rows that a query finds until the transaction ends: nobody else changes them, or locks them so, meanwhile. A transaction of
 * SQLite is the only one that writes, from its begin.
 */
export function forUpdate<From extends keyof Tables, Found>(
  queries: Queries,
  query: SelectQueryBuilder<Tables, From, Found>,
): SelectQueryBuilder<Tables, From, Found> {
  return dialectOf(queries) === 'postgres' ? query.forUpdate() : query;
}

/** Keeps the rows that a query finds from being changed or removed until the transaction ends; others may do the same meanwhile. */
export function forShare<From extends keyof Tables, Found>(
  queries: Queries,
  query: SelectQueryBuilder<Tables, From, Found>,
): SelectQueryBuilder<Tables, From, Found> {
  return dialectOf(queries) === 'postgres' ? query.forShare() : query;
}
