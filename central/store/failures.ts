import pg from 'pg';
import { systemCode } from '#base/errors.ts';
import { isSqliteError } from '#base/sqlite.ts';
import { RailheadError } from '#contract/errors.ts';

const { DatabaseError } = pg;

/** SQLSTATE 23505, unique_violation. */
const uniqueViolation = '23505';
/** SQLSTATE class 40: another transaction was in the way, and the same one may succeed now. */
const rollbackClass = '40';
/**
 * SQLSTATE classes and codes of a server that ends, starts, fails over or has no connection left: class 08, 57P01 to 57P05 (operator
 * intervention), 53300 too_many_connections, 25006 read_only_sql_transaction. Another try finds it, or its successor.
 */
const awayCodes = /^(08|57P|53300$|25006$)/;
const reason = 'database';

/** Whether a database error says that a row with this key exists already. */
export function isDuplicate(error: unknown): boolean {
  const code = systemCode(error);
  if (error instanceof DatabaseError) return code === uniqueViolation;
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Whether the database itself failed or refused: gone, full, busy, broken, a constraint. */
export function isDatabaseFailure(error: unknown): boolean {
  if (error instanceof RailheadError) return error.details.reason === reason;
  return isSqliteError(error) || error instanceof DatabaseError;
}

/** A failure of PostgreSQL's driver; what another try may cure becomes RailheadError UNAVAILABLE. */
export function databaseFailure(error: unknown): unknown {
  if (error instanceof RailheadError) return error;
  if (!(error instanceof DatabaseError)) return unavailable('the database cannot be reached', error);
  if (awayCodes.test(error.code ?? '')) return unavailable('the database went away', error);
  if (error.code?.startsWith(rollbackClass)) return unavailable('the database was busy', error);
  return error;
}

function unavailable(what: string, cause: unknown): RailheadError {
  const { message } = cause as Error;
  return new RailheadError('UNAVAILABLE', `${what}: ${message}`, { reason }, cause);
}
