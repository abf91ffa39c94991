import { sql } from 'kysely';
import { newId } from '#contract/ids.ts';
import { dialectOf, now, type Queries, toJson } from './store/store.ts';

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
      received_at: now(),
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
  if (line !== undefined) await takeLine(store, line);
}

/** Takes that lock of a node: who changes the node's row, or that of its workflow, as well takes it first, so that two who do both wait for each other in one order. */
export async function takeLine(store: Queries, line: string): Promise<void> {
  if (dialectOf(store) === 'sqlite') return;
  await sql`SELECT pg_advisory_xact_lock(hashtext(${line}))`.execute(store);
}
