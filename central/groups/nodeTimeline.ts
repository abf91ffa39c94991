import Type, { type Static } from 'typebox';
import { longestRecordingMs } from '#contract/consoleRecording.ts';
import { durationMs, durationPattern } from '#contract/durations.ts';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { Time } from '#contract/time.ts';
import { decodeCursor, encodeCursor, pageFields } from '../api/cursor.ts';
import { itemScopes } from '../api/grants.ts';
import { type ApiContext, type Group, method } from '../api/method.ts';
import { eventsAfter, newestEvent, presentEvent, recordEvent } from '../events.ts';
import { endRecording, wantRecording } from '../metal/recordings.ts';
import { nodeIdPattern, requireNode } from '../nodes.ts';
import { nodeTopic, siteTopic } from '../signals.ts';
import { parseJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

const closed = { additionalProperties: false };
const oneNode = { tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }) };

const NodeEvents = Type.Object(
  {
    ...oneNode,
    ...pageFields,
    /** Only these. */
    types: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 20 })),
    /** Only what happened since then, by the clock of who tells it. */
    since: Type.Optional(Time),
    /** How long to wait for the first new event when there is none. */
    waitSeconds: Type.Number({ minimum: 0, maximum: 60, default: 0 }),
  },
  closed,
);

const RecordConsole = Type.Object({ ...oneNode, for: Type.String({ pattern: durationPattern }) }, closed);

/** What happened to one machine, and its serial console as a part of that. */
export const nodeTimeline: Group = {
  events: method({
    kind: 'read',
    action: 'compute:nodes:read',
    input: NodeEvents,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    waits: true,
    run: (context, input, _caller, stop) => events(context, input, stop),
  }),
  recordConsole: method({
    kind: 'mutation',
    action: 'compute:bmc:console',
    input: RecordConsole,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store, signals }, { tenantId, nodeId, for: duration }, { tokenId }) => {
      const forMs = allowed(duration);
      const node = requireBmc(await requireNode(store, tenantId, nodeId));
      const cursor = encodeCursor([await newestEvent(store, nodeId)]);
      const recording = await store.transaction().execute(async (queries) => {
        const wanted = await wantRecording(queries, node, forMs);
        const text = `the serial console is to be recorded until ${wanted.until}`;
        const { recordingId } = wanted;
        const event = { nodeId, text, cause: `token ${tokenId}`, data: { recordingId } };
        await recordEvent(queries, { ...event, type: 'console.requested' });
        return wanted;
      });
      signals.notify(siteTopic(node.site_id), nodeTopic(nodeId));
      return { ...recording, cursor };
    },
  }),
  endConsole: method({
    kind: 'mutation',
    action: 'compute:bmc:console',
    input: Type.Object(oneNode, closed),
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store, signals }, { tenantId, nodeId }) => {
      const node = await requireNode(store, tenantId, nodeId);
      const { recordingId } = await endRecording(store, node);
      signals.notify(siteTopic(node.site_id), nodeTopic(nodeId));
      return { recordingId };
    },
  }),
};

/** A page of a node's events. Its `cursor` is always there: with it the next call goes on, or waits for more. */
async function events(
  { store, signals }: ApiContext,
  { tenantId, nodeId, limit, cursor, waitSeconds, types, since }: Static<typeof NodeEvents>,
  stop: AbortSignal,
) {
  await requireNode(store, tenantId, nodeId);
  const after = cursor === undefined ? 0 : decodeCursor(cursor, 'number')[0];
  const patience = AbortSignal.any([stop, AbortSignal.timeout(Math.ceil(waitSeconds * 1000))]);
  const from = since === undefined ? undefined : new Date(since).toISOString();
  const newer = async () => {
    const rows = await eventsAfter(store, { nodeId, after, limit, types, since: from });
    return rows.length > 0 || waitSeconds === 0 ? rows : undefined;
  };
  const rows = (await signals.until([nodeTopic(nodeId)], newer, patience)) ?? [];
  return { items: rows.map(presentEvent), cursor: encodeCursor([rows.at(-1)?.seq ?? after]) };
}

function allowed(duration: string): number {
  const forMs = durationMs(duration);
  if (forMs <= longestRecordingMs) return forMs;
  const most = `${longestRecordingMs / 3_600_000}h`;
  throw new RailheadError('INVALID_INPUT', `a console is recorded for at most ${most} at a time`, {
    path: 'for',
    most,
  });
}

/** What has no BMC has no console: said now, not by a recording that ends at once. */
function requireBmc(node: Row<'nodes'>): Row<'nodes'> {
  const driver = parseJson<BmcBinding>(node.bmc)?.driver;
  if (driver === 'redfish' || driver === 'ipmi') return node;
  const message = `${node.node_id} has no BMC, and so no serial console that could be reached`;
  throw new RailheadError('UNSUPPORTED', message, { path: 'nodeId', reason: 'no-console' });
}
