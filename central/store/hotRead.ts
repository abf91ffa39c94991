import type { Compilable, CompiledQuery } from 'kysely';
import { sqliteReader } from './sqlite.ts';
import type { Queries } from './store.ts';

/**
 * A read that happens on many calls: its SQL is built once, and on SQLite it goes straight to a prepared statement. `build` writes
 * each parameter as `''`; the calls give them in the order in which they stand there.
 */
export function hotRead<Row>(
  build: (queries: Queries) => Compilable<Row>,
): (store: Queries, ...parameters: readonly unknown[]) => Promise<Row | undefined> {
  const compiled = new WeakMap<Queries, CompiledQuery<Row>>();
  const queryOf = (store: Queries) => {
    const query = compiled.get(store) ?? build(store).compile();
    compiled.set(store, query);
    return query;
  };
  return async (store, ...parameters) => {
    const query = queryOf(store);
    const reader = sqliteReader(store);
    if (reader !== undefined) return reader.get(query.sql, parameters) as Row | undefined;
    const { rows } = await store.executeQuery<Row>({ ...query, parameters });
    return rows[0];
  };
}
