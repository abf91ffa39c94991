import type { Queries } from '../store/store.ts';
import { batchSize, type Position, type Removal, removeAll, removeSome } from './removal.ts';

/** Joins of machines that the centre heard of before this time: neither the last one of a machine, nor one that an operation is for. */
export function machineJoins(before: string): Removal {
  return removeSome({
    page: (queries, after) => joinsBefore(queries, before, after),
    mayGo: replacedJoins,
    remove: async (queries, ids) => {
      if (ids.length > 0) await queries.deleteFrom('node_joins').where('join_id', 'in', ids).execute();
      return { removed: ids.length, done: ids.length };
    },
  });
}

function joinsBefore(queries: Queries, before: string, after: Position | undefined): Promise<Position[]> {
  let query = queries
    .selectFrom('node_joins')
    .select(['received_at as time', 'join_id as id'])
    .where('received_at', '<', before)
    .orderBy('received_at')
    .orderBy('join_id')
    .limit(batchSize);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('received_at', 'join_id'), '>', tuple(after.time, after.id)),
    );
  return query.execute();
}

async function replacedJoins(queries: Queries, ids: readonly string[]): Promise<string[]> {
  const rows = await queries
    .selectFrom('node_joins as old')
    .select('old.join_id')
    .where('old.join_id', 'in', ids)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('node_joins as later')
          .select('later.join_id')
          .whereRef('later.node_id', '=', 'old.node_id')
          .whereRef('later.role', '=', 'old.role')
          .whereRef('later.at', '>', 'old.at'),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('operations').select('operation_id').whereRef('operations.join_id', '=', 'old.join_id'),
        ),
      ),
    )
    .execute();
  return rows.map((row) => row.join_id);
}

/** Join tokens that nobody could use any more since before this time. */
export function joinTokens(before: string): Removal {
  return removeAll((queries) =>
    queries
      .deleteFrom('join_tokens')
      .where('token_id', 'in', (query) =>
        query
          .selectFrom('join_tokens')
          .select('token_id')
          .where('expires_at', '<', before)
          .orderBy('expires_at')
          .limit(batchSize),
      )
      .executeTakeFirstOrThrow(),
  );
}
