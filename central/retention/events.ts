import { sql } from 'kysely';
import type { Queries } from '../store/store.ts';
import { batchSize, type Removal, removeAll } from './removal.ts';

/** A constant in the statement's text: only then do databases see that their index of just these rows serves. */
const consoleOutput = sql.lit('console.output');

/**
 * Events of machines outside of workflows that the centre was told before this time. The workflow, which none of them has, is in the order
 * so that both databases take the index that begins with it, and not the one of all events by workflow.
 */
export function machineEvents(before: string): Removal {
  const oldest = (queries: Queries) =>
    queries
      .selectFrom('events')
      .select('seq')
      .where('workflow_id', 'is', null)
      .where('type', '<>', consoleOutput)
      .where('received_at', '<', before)
      .orderBy('workflow_id')
      .orderBy('received_at')
      .limit(batchSize);
  return removeAll((queries) =>
    queries.deleteFrom('events').where('seq', 'in', oldest(queries)).executeTakeFirstOrThrow(),
  );
}

/** What consoles printed, of which the centre was told before this time. */
export function consoleOutputs(before: string): Removal {
  const oldest = (queries: Queries) =>
    queries
      .selectFrom('events')
      .select('seq')
      .where('type', '=', consoleOutput)
      .where('received_at', '<', before)
      .orderBy('received_at')
      .limit(batchSize);
  return removeAll((queries) =>
    queries.deleteFrom('events').where('seq', 'in', oldest(queries)).executeTakeFirstOrThrow(),
  );
}
