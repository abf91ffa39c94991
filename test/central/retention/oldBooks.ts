import type { Store } from '#central/store/store.ts';

/** The time that the books are looked at, in milliseconds of the epoch. */
export const now = Date.parse('2026-06-01T12:00:00.000Z');
export const ago = (days: number) => new Date(now - days * 24 * 3_600_000).toISOString();

/** A site with two nodes, `node-1` and `node-2`. */
export async function addSite(store: Store): Promise<void> {
  await store
    .insertInto('sites')
    .values({ site_id: 'site_1', name: 'lab', created_at: ago(999) })
    .execute();
  for (const node of ['node-1', 'node-2']) await addNode(store, node);
}

export function addNode(store: Store, nodeId: string) {
  const place = { node_id: nodeId, tenant_id: 'root', site_id: 'site_1' };
  return store
    .insertInto('nodes')
    .values({ ...place, state: 'enrolled', created_at: ago(999) })
    .execute();
}

export interface OldWorkflow {
  id: string;
  node?: string;
  days: number;
  state?: 'succeeded' | 'running';
  settles?: string;
}

/** A workflow of one step with an operation for a join, and two events of its own. */
export async function addWorkflow(
  store: Store,
  { id, node = 'node-1', days, state = 'succeeded', settles }: OldWorkflow,
) {
  const at = ago(days);
  const place = { node_id: node, tenant_id: 'root', site_id: 'site_1' };
  const made = { profile: '{}', profile_tenant_id: 'root', created_by: 'test', created_at: at };
  const finished = state === 'running' ? null : at;
  await store
    .insertInto('workflows')
    .values({ workflow_id: id, ...place, ...made, state, finished_at: finished, settles: settles ?? null })
    .execute();
  await store
    .insertInto('workflow_steps')
    .values({
      workflow_id: id,
      position: 0,
      step_id: `s-${id}`,
      phase: 'main',
      step: '{}',
      state: 'succeeded',
    })
    .execute();
  await addJoin(store, `j-${id}`, node, days);
  const operation = { operation_id: `op-${id}`, step_id: `s-${id}`, workflow_id: id, join_id: `j-${id}` };
  const given = { attempt: 1, part: '', action: 'disk.wipe', sealed: Buffer.of(0), expires_at: at };
  await store
    .insertInto('operations')
    .values({ ...operation, ...given, target: 'ramdisk', node_id: node, site_id: 'site_1', created_at: at })
    .execute();
  for (const count of [1, 2])
    await addEvent(store, `${id}/${count}`, days, { workflow_id: id, node_id: node });
}

export function addJoin(store: Store, id: string, node: string, days: number) {
  return store
    .insertInto('node_joins')
    .values({ join_id: id, node_id: node, role: 'ramdisk', at: ago(days), received_at: ago(days) })
    .execute();
}

export function addEvent(store: Store, id: string, days: number, more: object = {}) {
  const row = { event_id: id, at: ago(days), received_at: ago(days), type: 'bmc.log', cause: 'c', text: id };
  return store
    .insertInto('events')
    .values({ node_id: 'node-1', ...row, ...more })
    .execute();
}
