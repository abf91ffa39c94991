import Type, { type Static } from 'typebox';
import { TenantId } from '#contract/images.ts';
import { Time } from '#contract/time.ts';
import { runningWorkflow } from '../agents/runningWorkflow.ts';
import { pageFields } from '../api/cursor.ts';
import type { CentralContext } from '../context.ts';
import { afterCursor, beforeNewest, cursorAfter, eventsAfter, presentEvent } from '../eventPages.ts';
import { nodeIdPattern, requireNode } from '../nodes.ts';
import { nodeTopic, workflowTopic } from '../signals.ts';

const eventType = '^[a-z]{1,32}(\\.[a-z-]{1,32})?$';

export const NodeEvents = Type.Object(
  {
    tenantId: TenantId,
    nodeId: Type.String({ pattern: nodeIdPattern }),
    ...pageFields,
    /** Without a cursor: begin with so many of the newest, and not with the first of all. */
    last: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    /** Only these types, such as `bmc.log`, or all of a kind, such as `bmc`. */
    types: Type.Optional(Type.Array(Type.String({ pattern: eventType }), { minItems: 1, maxItems: 20 })),
    /** Only what happened then or later, by the clock of who told it. */
    since: Type.Optional(Time),
    /** How long to wait for the first new event when there is none. */
    waitSeconds: Type.Number({ minimum: 0, maximum: 60, default: 0 }),
  },
  { additionalProperties: false },
);

/** A page of what happened to a node, oldest first. Its `cursor` is always there: with it the next call goes on, or waits for more. */
export async function nodeEvents(
  { store, signals }: CentralContext,
  { tenantId, nodeId, limit, cursor, last, types, since, waitSeconds }: Static<typeof NodeEvents>,
  stop: AbortSignal,
) {
  await requireNode(store, tenantId, nodeId);
  // Times are compared as text, which an operator may write in many ways.
  const of = { nodeId, types, since: since && new Date(since).toISOString() };
  const first = last === undefined ? 0 : await beforeNewest(store, of, last);
  const after = cursor === undefined ? first : afterCursor(cursor);
  const newer = async () => {
    const rows = await eventsAfter(store, of, after, limit);
    return rows.length > 0 || waitSeconds === 0 ? rows : undefined;
  };
  const patience = AbortSignal.any([stop, AbortSignal.timeout(Math.ceil(waitSeconds * 1000))]);
  const workflowId = await runningWorkflow(store, nodeId);
  const topics = [nodeTopic(nodeId), ...(workflowId === undefined ? [] : [workflowTopic(workflowId)])];
  const rows = (await signals.until(topics, newer, patience)) ?? [];
  return { items: rows.map(presentEvent), cursor: cursorAfter(rows, after) };
}
