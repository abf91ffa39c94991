import type { BootQuirks } from '#contract/bootQuirks.ts';
import { RailheadError, type WireError } from '#contract/errors.ts';
import type { BmcBinding, DriverBindings } from '#contract/nodeSpec.ts';
import type { Labels } from '#contract/when.ts';
import { findSpec } from './agents/nodeSpec.ts';
import { openAlarms } from './alarms.ts';
import { nextOf } from './bmcPasswords/next.ts';
import { imagesOn } from './images/deployments.ts';
import { proposedMacs } from './metal/discovery.ts';
import type { NodeHealth } from './metal/health.ts';
import { recordingOf } from './metal/recordings.ts';
import { parseJson, type Queries } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** Usable as a host name once `_` is `-`. */
export const nodeIdPattern = '^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$';

/** @throws RailheadError NOT_FOUND when the tenant has no such node */
export async function requireNode(store: Queries, tenantId: string, nodeId: string): Promise<Row<'nodes'>> {
  const node = await store
    .selectFrom('nodes')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  if (node === undefined)
    throw new RailheadError('NOT_FOUND', `tenant ${tenantId} has no node ${nodeId}`, {
      path: 'nodeId',
      nodeId,
    });
  return node;
}

/** A node as the API answers it, with its newest workflow, what has joined as it, and what an operator must look at. */
export async function presentNode(store: Queries, row: Row<'nodes'>) {
  const macs = await store
    .selectFrom('node_macs')
    .select('mac')
    .where('node_id', '=', row.node_id)
    .orderBy('mac')
    .execute();
  const workflow = await store
    .selectFrom('workflows')
    .select('workflow_id')
    .where('node_id', '=', row.node_id)
    .orderBy('workflow_id', 'desc')
    .executeTakeFirst();
  return {
    nodeId: row.node_id,
    tenantId: row.tenant_id,
    siteId: row.site_id,
    state: row.state,
    macs: macs.map(({ mac }) => mac),
    createdAt: row.created_at,
    ...present({
      poolId: row.pool_id,
      role: row.role,
      uuid: row.uuid,
      hostname: row.hostname,
      address: row.address,
      hardwareProfile: row.hardware_profile,
      failedFrom: row.failed_from,
      inventoryAt: row.inventory_at,
      vlan: row.vlan,
      loader: row.loader,
      secureBoot: row.secure_boot === null ? null : row.secure_boot === 1,
    }),
    ...presentJson(row),
    ...present({ recording: recordingOf(row) }),
    proposedMacs: await proposedMacs(store, row),
    ...(row.bmc === null ? {} : { bmc: JSON.parse(row.bmc) as BmcBinding }),
    ...(await presentNextSecret(store, row)),
    images: (await imagesOn(store, row.node_id)).map(presentNodeImage),
    ...(workflow === undefined ? {} : { workflowId: workflow.workflow_id }),
    ...(await agentsOf(store, row.node_id)),
    alarms: await openAlarms(store, { nodeId: row.node_id }),
  };
}

async function presentNextSecret(store: Queries, row: Row<'nodes'>) {
  const next = row.next_secret_id === null ? undefined : await nextOf(store, row);
  return next === undefined ? {} : { nextBmcSecret: { ref: next.ref, since: next.created_at } };
}

function presentJson({ error, labels, drivers, boot_quirks, health }: Row<'nodes'>) {
  return present({
    error: parseJson<WireError>(error),
    labels: parseJson<Labels>(labels),
    drivers: parseJson<DriverBindings>(drivers),
    bootQuirks: parseJson<BootQuirks>(boot_quirks),
    ...presentHealth(parseJson<NodeHealth>(health)),
  });
}

/** Flat, so that a list has columns of it. */
function presentHealth(told: NodeHealth | undefined) {
  if (told === undefined) return {};
  const { health, power, faults, events, at: healthAt } = told;
  return { health, power, faults, events, healthAt };
}

/** The newest join of the node's ramdisk, with how far it was trusted, and of its OS. */
async function agentsOf(store: Queries, nodeId: string) {
  const joins = await store
    .selectFrom('node_joins')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('at')
    .orderBy('join_id')
    .execute();
  const newest = (role: Row<'node_joins'>['role']) => {
    const join = joins.findLast((one) => one.role === role);
    if (join === undefined) return undefined;
    const { trust, boot_id: bootId, at: joinedAt, lost_at: lostAt } = join;
    return present({ joinedAt, trust, bootId, lostAt });
  };
  return present({ ramdisk: newest('ramdisk'), agent: newest('node'), spec: await specOf(store, nodeId) });
}

/** How far the agent of the node's OS is with its desired state. */
async function specOf(store: Queries, nodeId: string) {
  const row = await findSpec(store, { role: 'node', id: nodeId });
  if (row === undefined) return undefined;
  const { generation, observed_generation: observedGeneration, observed_at: observedAt } = row;
  return { generation, observedGeneration, ...present({ observedAt }) };
}

/** What is on the machine's disk; beside a write that did not end, what was there before it. */
function presentNodeImage({ ref, sha256: digest, state, at }: Row<'node_images'>) {
  return { ref, digest, state, at };
}

/** The fields that are there. */
export function present<Fields extends Record<string, unknown>>(fields: Fields) {
  const there = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(there) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}
