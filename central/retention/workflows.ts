import { now, type Queries } from '../store/store.ts';
import { endsRamdisk } from '../workflows/ramdisk.ts';
import { batchSize, type Position, type Removal, removeSome } from './removal.ts';

/** How many workflows are looked at in one transaction. */
const pageSize = 50;
/** How many go in one transaction, each with some forty rows of other tables. */
const goAtOnce = 5;

/** The events of workflows that ended before this time, of each all: no timeline begins in the middle of one. */
export function workflowEvents(before: string): Removal {
  return removeSome({
    page: (queries, after) => endedBefore(queries, before, after, 'is'),
    mayGo: historic,
    remove: removeEvents,
  });
}

/** Workflows that ended before this time and whose events are gone, with their steps and operations. */
export function endedWorkflows(before: string): Removal {
  return removeSome({
    page: (queries, after) => endedBefore(queries, before, after, 'is not'),
    mayGo: historic,
    remove: async (queries, ids) => {
      const going = ids.slice(0, goAtOnce);
      if (going.length > 0) await removeWorkflows(queries, going);
      return { removed: going.length, done: going.length };
    },
  });
}

/** Workflows by their end, those whose events are there (`is` null) or those whose events are gone (`is not`). */
async function endedBefore(
  queries: Queries,
  before: string,
  after: Position | undefined,
  eventsRemoved: 'is' | 'is not',
): Promise<Position[]> {
  let query = queries
    .selectFrom('workflows')
    .select(['finished_at as time', 'workflow_id as id'])
    .where('events_removed_at', eventsRemoved, null)
    .where('finished_at', '<', before)
    .orderBy('finished_at')
    .orderBy('workflow_id')
    .limit(pageSize);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('finished_at', 'workflow_id'), '>', tuple(after.time, after.id)),
    );
  return (await query.execute()) as Position[];
}

/**
 * Those of ended workflows that are history. An operator still asks for the last workflow of a machine, the last one that changed its
 * state, since it may have failed there, and those that gave it the images which it has.
 */
async function historic(queries: Queries, ids: readonly string[]): Promise<string[]> {
  const rows = await queries
    .selectFrom('workflows as old')
    .select('old.workflow_id')
    .where('old.workflow_id', 'in', ids)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('workflows as later')
          .select('later.workflow_id')
          .whereRef('later.node_id', '=', 'old.node_id')
          .whereRef('later.workflow_id', '>', 'old.workflow_id'),
      ),
    )
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('old.settles', 'is', null),
        exists(
          selectFrom('workflows as later')
            .select('later.workflow_id')
            .whereRef('later.node_id', '=', 'old.node_id')
            .whereRef('later.workflow_id', '>', 'old.workflow_id')
            .where('later.settles', 'is not', null),
        ),
      ]),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('node_images')
            .select('sha256')
            .whereRef('node_images.workflow_id', '=', 'old.workflow_id'),
        ),
      ),
    )
    .execute();
  const found = new Set(rows.map((row) => row.workflow_id));
  return ids.filter((id) => found.has(id));
}

/** Removes `batchSize` events at most. A workflow that has lost all of them is marked. */
async function removeEvents(
  queries: Queries,
  ids: readonly string[],
): Promise<{ removed: number; done: number }> {
  let removed = 0;
  let done = 0;
  for (const id of ids) {
    removed += await removeEventsOf(queries, id, batchSize - removed);
    if (removed === batchSize) break;
    done++;
  }
  if (done > 0)
    await queries
      .updateTable('workflows')
      .set({ events_removed_at: now() })
      .where('workflow_id', 'in', ids.slice(0, done))
      .execute();
  return { removed, done };
}

async function removeEventsOf(queries: Queries, workflowId: string, most: number): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('events')
    .where('seq', 'in', (query) =>
      query
        .selectFrom('events')
        .select('seq')
        .where('workflow_id', '=', workflowId)
        .orderBy('seq')
        .limit(most),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** With what was told of them after their events had gone. */
async function removeWorkflows(queries: Queries, ids: readonly string[]): Promise<void> {
  await noteEndedRamdisks(queries, ids);
  await queries.deleteFrom('events').where('workflow_id', 'in', ids).execute();
  await queries.deleteFrom('operations').where('step_id', 'in', stepsOf(queries, ids)).execute();
  for (const table of ['workflow_claims', 'workflow_steps', 'workflows'] as const)
    await queries.deleteFrom(table).where('workflow_id', 'in', ids).execute();
}

/** That a machine does not run its last ramdisk any more is known by the operations that ended it: now the join, which stays, says so itself. */
async function noteEndedRamdisks(queries: Queries, ids: readonly string[]): Promise<void> {
  const ends = await queries
    .selectFrom('operations')
    .select(['node_id', 'finished_at'])
    .where('step_id', 'in', stepsOf(queries, ids))
    .where('action', 'in', endsRamdisk)
    .where('outcome', '!=', 'failed')
    .execute();
  for (const { node_id, finished_at } of ends)
    await queries
      .updateTable('node_joins')
      .set({ lost_at: finished_at, lost_reason: 'silent' })
      .where('node_id', '=', node_id)
      .where('role', '=', 'ramdisk')
      .where('lost_at', 'is', null)
      .where('at', '<=', finished_at)
      .execute();
}

function stepsOf(queries: Queries, ids: readonly string[]) {
  return queries.selectFrom('workflow_steps').select('step_id').where('workflow_id', 'in', ids);
}
