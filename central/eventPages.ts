import type { ExpressionBuilder } from 'kysely';
import { decodeCursor, encodeCursor } from './api/cursor.ts';
import { present } from './nodes.ts';
import { parseJson, type Queries } from './store/store.ts';
import type { Row, Tables } from './store/tables.ts';

/** Whose events, and which of them. */
export type EventsOf = ({ nodeId: string } | { workflowId: string }) & {
  /** Types such as `bmc.log`, or all of a kind, such as `bmc`. */
  types?: readonly string[] | undefined;
  /** What happened then or later, by the clock of who told it. */
  since?: string | undefined;
};

/** Events after a number, oldest first. */
export function eventsAfter(
  store: Queries,
  of: EventsOf,
  after: number,
  limit: number,
): Promise<Row<'events'>[]> {
  return store
    .selectFrom('events')
    .selectAll()
    .where(whose(of))
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** The number before the newest `count` events; 0 when there are not more. */
export async function beforeNewest(store: Queries, of: EventsOf, count: number): Promise<number> {
  const row = await store
    .selectFrom('events')
    .select('seq')
    .where(whose(of))
    .orderBy('seq', 'desc')
    .offset(count)
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

function whose({ types, since, ...of }: EventsOf) {
  return (where: ExpressionBuilder<Tables, 'events'>) =>
    where.and([
      'nodeId' in of ? where('node_id', '=', of.nodeId) : where('workflow_id', '=', of.workflowId),
      ...(since === undefined ? [] : [where('at', '>=', since)]),
      ...(types === undefined ? [] : [where.or(types.flatMap((type) => ofType(where, type)))]),
    ]);
}

function ofType(where: ExpressionBuilder<Tables, 'events'>, type: string) {
  return [where('type', '=', type), where('type', 'like', `${type}.%`)];
}

/** The cursor after these events: the next call goes on with it, or waits for more. */
export function cursorAfter(rows: readonly Row<'events'>[], after: number): string {
  return encodeCursor([rows.at(-1)?.seq ?? after]);
}

export function afterCursor(cursor: string): number {
  return decodeCursor(cursor, 'number')[0];
}

export function presentEvent(row: Row<'events'>) {
  const { event_id: eventId, at, type, text, cause } = row;
  const links = present({ nodeId: row.node_id, workflowId: row.workflow_id, stepId: row.step_id });
  const data = parseJson<unknown>(row.data);
  return { eventId, at, type, text, cause, ...links, ...(data === undefined ? {} : { data }) };
}
