import { newId } from '#contract/ids.ts';
import { now, type Queries, toJson } from './store/store.ts';

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
