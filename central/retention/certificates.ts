import type { Queries } from '../store/store.ts';
import { batchSize, type Position, type Removal, removeSome } from './removal.ts';

/**
 * Certificates of agents that ended before this time, which must be one from which they can renew no more. The last one of an agent
 * stays: by it the agent is told that its time has passed.
 */
export function agentCertificates(before: string): Removal {
  return removeSome({
    page: (queries, after) => endedBefore(queries, before, after),
    mayGo: replaced,
    remove: async (queries, ids) => {
      if (ids.length > 0) await queries.deleteFrom('certificates').where('serial', 'in', ids).execute();
      return { removed: ids.length, done: ids.length };
    },
  });
}

function endedBefore(queries: Queries, before: string, after: Position | undefined): Promise<Position[]> {
  let query = queries
    .selectFrom('certificates')
    .select(['expires_at as time', 'serial as id'])
    .where('expires_at', '<', before)
    .orderBy('expires_at')
    .orderBy('serial')
    .limit(batchSize);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('expires_at', 'serial'), '>', tuple(after.time, after.id)),
    );
  return query.execute();
}

async function replaced(queries: Queries, ids: readonly string[]): Promise<string[]> {
  const rows = await queries
    .selectFrom('certificates as old')
    .select('old.serial')
    .where('old.serial', 'in', ids)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('certificates as later')
          .select('later.serial')
          .whereRef('later.identity', '=', 'old.identity')
          .whereRef('later.expires_at', '>', 'old.expires_at'),
      ),
    )
    .execute();
  return rows.map((row) => row.serial);
}
