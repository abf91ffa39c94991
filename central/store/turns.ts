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
