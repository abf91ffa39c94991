import Type from 'typebox';
import { longestRecordingMs } from '#contract/consoleRecording.ts';
import { durationMs, durationPattern } from '#contract/durations.ts';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { encodeCursor } from '../api/cursor.ts';
import { itemScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { beforeNewest } from '../eventPages.ts';
import { recordEvent, takeLine } from '../events.ts';
import { endRecording, wantRecording } from '../metal/recordings.ts';
import { nodeIdPattern, requireNode } from '../nodes.ts';
import { nodeTopic, siteTopic } from '../signals.ts';
import { parseJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

const closed = { additionalProperties: false };
const oneNode = { tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }) };

const RecordConsole = Type.Object({ ...oneNode, for: Type.String({ pattern: durationPattern }) }, closed);

/** Recordings of a machine's serial console. */
export const nodeConsole: Group = {
  recordConsole: method({
    kind: 'mutation',
    action: 'compute:bmc:console',
    input: RecordConsole,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store, signals }, { tenantId, nodeId, for: duration }, { tokenId }) => {
      const forMs = allowed(duration);
      const node = requireBmc(await requireNode(store, tenantId, nodeId));
      const cursor = encodeCursor([await beforeNewest(store, { nodeId }, 0)]);
      const recording = await store.transaction().execute(async (queries) => {
        await takeLine(queries, nodeId);
        const wanted = await wantRecording(queries, node, forMs);
        const text = `the serial console is to be recorded until ${wanted.until}`;
        const event = { nodeId, text, cause: `token ${tokenId}`, data: wanted };
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
