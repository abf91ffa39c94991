import Type from 'typebox';
import { hasController } from '#contract/bmcBinding.ts';
import { Vlan } from '#contract/bootEntry.ts';
import { BootQuirks, mergedQuirks } from '#contract/bootQuirks.ts';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import type { Inventory } from '#contract/inventory.ts';
import { loaders } from '#contract/loader.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { RelayRequest, whyNotRelayed } from '#contract/redfishRelay.ts';
import { confirmAsked } from '../agents/asks.ts';
import { acknowledgeAlarms } from '../alarms.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { itemScopes, tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { NodeLabels } from '../metal/labels.ts';
import { NodeEvents, nodeEvents } from '../metal/timeline.ts';
import { nodeIdPattern, presentNode, requireNode } from '../nodes.ts';
import { relayProfile, rotateProfile } from '../profiles/builtin.ts';
import { nodeTopic, siteTopic, workflowTopic } from '../signals.ts';
import { parseJson } from '../store/store.ts';
import { startWorkflow } from '../workflows/start.ts';
import { nodeConsole } from './nodeConsole.ts';

const closed = { additionalProperties: false };

/** What is left out stays. `labels` are all that operators set: those that they leave out are unset. `vlan: null` is none. */
const UpdateNode = Type.Object(
  {
    tenantId: TenantId,
    nodeId: Type.String({ pattern: nodeIdPattern }),
    labels: Type.Optional(NodeLabels),
    vlan: Type.Optional(Type.Union([Vlan, Type.Null()])),
  },
  closed,
);

/** All that operators set: what they leave out is unset. */
const SetBootQuirks = Type.Object(
  { tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }), bootQuirks: BootQuirks },
  closed,
);

/** `auto`: by whether Secure Boot is on, as far as the machine or its BMC has told. */
const SetLoader = Type.Object(
  {
    tenantId: TenantId,
    nodeId: Type.String({ pattern: nodeIdPattern }),
    loader: Type.Enum([...loaders, 'auto']),
  },
  closed,
);

/** One Redfish request to the machine's BMC; what may be asked is in docs/bmc.md. */
const Redfish = Type.Object(
  { tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }), ...RelayRequest.properties },
  closed,
);

/** The records of the machines. */
export const nodes: Group = {
  get: method({
    kind: 'read',
    action: 'compute:nodes:read',
    input: Type.Object({ tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }) }, closed),
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store }, { tenantId, nodeId }) => {
      const node = await requireNode(store, tenantId, nodeId);
      const inventory = parseJson<Inventory>(node.inventory);
      return { ...(await presentNode(store, node)), ...(inventory === undefined ? {} : { inventory }) };
    },
  }),
  update: method({
    kind: 'mutation',
    action: 'compute:nodes:manage',
    input: UpdateNode,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store, signals }, { tenantId, nodeId, labels, vlan }) => {
      await requireNode(store, tenantId, nodeId);
      const set = {
        ...(labels !== undefined && { labels: JSON.stringify(labels) }),
        ...(vlan !== undefined && { vlan }),
      };
      if (Object.keys(set).length > 0)
        await store.updateTable('nodes').set(set).where('node_id', '=', nodeId).execute();
      signals.notify(nodeTopic(nodeId));
      return presentNode(store, await requireNode(store, tenantId, nodeId));
    },
  }),
  setBootQuirks: method({
    kind: 'mutation',
    action: 'compute:nodes:manage',
    input: SetBootQuirks,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store, signals }, { tenantId, nodeId, bootQuirks }) => {
      const { site_id: siteId } = await requireNode(store, tenantId, nodeId);
      const quirks = mergedQuirks(bootQuirks);
      const set = { boot_quirks: quirks === undefined ? null : JSON.stringify(quirks) };
      await store.updateTable('nodes').set(set).where('node_id', '=', nodeId).execute();
      signals.notify(siteTopic(siteId), nodeTopic(nodeId));
      return presentNode(store, await requireNode(store, tenantId, nodeId));
    },
  }),
  setLoader: method({
    kind: 'mutation',
    action: 'compute:nodes:manage',
    input: SetLoader,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store, signals }, { tenantId, nodeId, loader }) => {
      const { site_id: siteId } = await requireNode(store, tenantId, nodeId);
      const set = { loader: loader === 'auto' ? null : loader };
      await store.updateTable('nodes').set(set).where('node_id', '=', nodeId).execute();
      signals.notify(siteTopic(siteId), nodeTopic(nodeId));
      return presentNode(store, await requireNode(store, tenantId, nodeId));
    },
  }),
  acknowledge: method({
    kind: 'mutation',
    action: 'compute:nodes:manage',
    input: Type.Object({ tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }) }, closed),
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store }, { tenantId, nodeId }, caller) => {
      await requireNode(store, tenantId, nodeId);
      return { acknowledged: await acknowledgeAlarms(store, { nodeId }, caller.tokenId) };
    },
  }),
  confirm: method({
    kind: 'mutation',
    action: 'compute:nodes:confirm',
    input: Type.Object({ tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }) }, closed),
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async ({ store, signals }, { tenantId, nodeId }, caller) => {
      const { site_id: siteId } = await requireNode(store, tenantId, nodeId);
      const { workflow_id: workflowId, asked } = await store
        .transaction()
        .execute((queries) => confirmAsked(queries, nodeId, `token ${caller.tokenId}`));
      signals.notify(siteTopic(siteId), workflowTopic(workflowId));
      return { nodeId, workflowId, confirmed: asked ?? '' };
    },
  }),
  events: method({
    kind: 'read',
    action: 'compute:nodes:read',
    input: NodeEvents,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    waits: true,
    run: (context, input, _caller, stop) => nodeEvents(context, input, stop),
  }),
  redfish: method({
    kind: 'mutation',
    action: 'compute:bmc:relay',
    input: Redfish,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async (context, { tenantId, nodeId, ...request }, caller) => {
      const why = whyNotRelayed(request);
      if (why !== undefined) throw notRelayed(request, why);
      const node = await requireNode(context.store, tenantId, nodeId);
      return startWorkflow(context, { node, profile: relayProfile(request), caller });
    },
  }),
  rotateBmcPassword: method({
    kind: 'mutation',
    action: 'compute:bmc:rotate',
    input: Type.Object({ tenantId: TenantId, nodeId: Type.String({ pattern: nodeIdPattern }) }, closed),
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async (context, { tenantId, nodeId }, caller) => {
      const node = await requireNode(context.store, tenantId, nodeId);
      const issue = passwordIssue(parseJson<BmcBinding>(node.bmc));
      if (issue !== undefined) throw issue;
      return startWorkflow(context, { node, profile: rotateProfile, caller });
    },
  }),
  ...nodeConsole,
  list: method({
    kind: 'read',
    action: 'compute:nodes:read',
    input: Type.Object({ tenantId: TenantId, ...pageFields }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    items: 'compute-node',
    run: async ({ store }, { tenantId, limit, cursor }, { only }) => {
      let query = store
        .selectFrom('nodes')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .orderBy('node_id')
        .limit(limit + 1);
      if (only !== undefined) query = query.where('node_id', 'in', only);
      if (cursor !== undefined) query = query.where('node_id', '>', decodeCursor(cursor, 'string')[0]);
      const page = pageOf(
        await query.execute(),
        limit,
        (row) => [row.node_id],
        (row) => row,
      );
      return { ...page, items: await Promise.all(page.items.map((row) => presentNode(store, row))) };
    },
  }),
};

/** Why there is no password to change. */
function passwordIssue(bmc: BmcBinding | undefined): RailheadError | undefined {
  if (bmc === undefined)
    return new RailheadError('INVALID_STATE', 'the node was enrolled without a BMC', { reason: 'no-bmc' });
  if (hasController(bmc)) return undefined;
  const message = `driver ${bmc.driver} has no BMC whose password could be changed`;
  return new RailheadError('UNSUPPORTED', message, { reason: 'no-password', driver: bmc.driver });
}

function notRelayed({ method, path }: RelayRequest, why: string): RailheadError {
  return new RailheadError('FORBIDDEN', `${method} ${path} is not relayed: ${why}`, {
    path: 'path',
    reason: 'not-relayed',
  });
}
