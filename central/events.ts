import { sql } from 'kysely';
import { newId } from '#contract/ids.ts';
import { present } from './nodes.ts';
import { dialectOf, now, parseJson, type Queries, toJson } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** Something that happened to a node or a workflow, and who or what caused it. */
export interface NewEvent {
  type: string;
  text: string;
  /** `token tok_…`, `site site_…`, `engine`: who or what caused it. */
  cause: string;
  nodeId?: string | undefined;
  workflowId?: string | undefined;
  stepId?: string | undefined;
  data?: unknown;
  /** Its own id when it comes from outside, so that a second delivery is recognised. */
  eventId?: string;
  /** When it happened by the clock of who reports it; default now. */
  at?: string;
}

export async function recordEvent(store: Queries, event: NewEvent): Promise<void> {
  await inOrder(store, event);
  await store
    .insertInto('events')
    .values({
      event_id: event.eventId ?? newId('ev'),
      at: event.at ?? now(),
      node_id: event.nodeId ?? null,
      workflow_id: event.workflowId ?? null,
      step_id: event.stepId ?? null,
      type: event.type,
      cause: event.cause,
      text: event.text,
      data: toJson(event.data),
    })
    .execute();
}

/**
 * Whoever reads events after a number must not miss one: of one node, or one workflow without a node, they are committed in the order
 * of their numbers. SQLite has one writer at a time; PostgreSQL has a lock that the transaction holds to its end.
 */
async function inOrder(store: Queries, { nodeId, workflowId }: NewEvent): Promise<void> {
  const line = nodeId ?? workflowId;
  if (line === undefined || dialectOf(store) === 'sqlite') return;
  await sql`SELECT pg_advisory_xact_lock(hashtext(${line}))`.execute(store);
}

export interface EventsWanted {
  workflowId?: string;
  nodeId?: string;
  /** Only these. */
  types?: readonly string[] | undefined;
  /** Only what happened then or later. */
  since?: string | undefined;
  /** Only those with a greater number. */
  after: number;
  limit: number;
}

/** Events of one workflow or one node, oldest first. */
export function eventsAfter(store: Queries, wanted: EventsWanted): Promise<Row<'events'>[]> {
  const { workflowId, nodeId, types, since, after, limit } = wanted;
  let query = store.selectFrom('events').selectAll().where('seq', '>', after).orderBy('seq').limit(limit);
  if (workflowId !== undefined) query = query.where('workflow_id', '=', workflowId);
  if (nodeId !== undefined) query = query.where('node_id', '=', nodeId);
  if (types !== undefined) query = query.where('type', 'in', types);
  if (since !== undefined) query = query.where('at', '>=', since);
  return query.execute();
}

/** The number of a node's newest event; 0 when there is none. */
export async function newestEvent(store: Queries, nodeId: string): Promise<number> {
  const row = await store
    .selectFrom('events')
    .select('seq')
    .where('node_id', '=', nodeId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

export function presentEvent(row: Row<'events'>) {
  const { event_id: eventId, at, type, text, cause } = row;
  const links = present({ nodeId: row.node_id, stepId: row.step_id });
  const data = parseJson<unknown>(row.data);
  return { eventId, at, type, text, cause, ...links, ...(data === undefined ? {} : { data }) };
}
