import type { Statement } from 'better-sqlite3';
import type { Sqlite } from '#base/sqlite.ts';

/** How many compiled statements are kept for one connection. */
const keptStatements = 500;

/** Compiles each statement of a connection once: that takes longer than most of them run. */
export function keepingStatements(database: Sqlite): Pick<Sqlite, 'prepare'> {
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
