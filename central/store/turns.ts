import { sql } from 'kysely';
import { dialectOf, type Queries } from './store.ts';

/** Keeps these locks apart from others that have one number. Any constant. */
const lockSpace = 8_246;

/**
 * Waits until no other transaction has the turn `name`, and has it until this one ends: what was read before, another may have changed.
 * SQLite has one writer at a time as it is.
 */
export async function takeTurn(queries: Queries, name: string): Promise<void> {
  if (dialectOf(queries) === 'sqlite') return;
  await sql`SELECT pg_advisory_xact_lock(${lockSpace}, hashtext(${name}))`.execute(queries);
}

/** Takes the turn `name` until this transaction ends, unless another transaction has it: then false. */
export async function takeFreeTurn(queries: Queries, name: string): Promise<boolean> {
  if (dialectOf(queries) === 'sqlite') return true;
  const lock = sql<{
    taken: boolean;
  }>`SELECT pg_try_advisory_xact_lock(${lockSpace}, hashtext(${name})) AS taken`;
  const { rows } = await lock.execute(queries);
  return rows[0]?.taken === true;
}
