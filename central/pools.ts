import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { checkPoolPolicy, type PoolPolicy, readPoolPolicy } from './groups/poolPolicy.ts';
import { now, type Queries, type Store } from './store/store.ts';
import type { Row } from './store/tables.ts';
import { inTenant } from './tenants.ts';

export async function createPool(
  store: Store,
  pool: { tenantId: string; siteId: string; class: string; policy: PoolPolicy },
): Promise<Row<'pools'>> {
  const { tenantId, siteId, policy } = pool;
  checkPoolPolicy(policy);
  const row = {
    pool_id: newId('pool'),
    tenant_id: tenantId,
    site_id: siteId,
    class: pool.class,
    policy: JSON.stringify(policy),
    created_at: now(),
  };
  return inTenant(store, tenantId, (queries) =>
    queries.insertInto('pools').values(row).returningAll().executeTakeFirstOrThrow(),
  );
}

/** @throws RailheadError NOT_FOUND when the tenant has no such pool */
export async function requirePool(store: Queries, tenantId: string, poolId: string): Promise<Row<'pools'>> {
  const pool = await store
    .selectFrom('pools')
    .selectAll()
    .where('pool_id', '=', poolId)
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  if (pool !== undefined) return pool;
  throw new RailheadError('NOT_FOUND', `tenant ${tenantId} has no pool ${poolId}`, {
    path: 'poolId',
    poolId,
  });
}

/** The nodes whose desired state a pool's policy is part of. */
export async function nodesOfPool(store: Queries, poolId: string): Promise<string[]> {
  const rows = await store.selectFrom('nodes').select('node_id').where('pool_id', '=', poolId).execute();
  return rows.map((row) => row.node_id);
}

/**
 * Puts another policy in the place of a pool's.
 * @throws RailheadError NOT_FOUND, CONFLICT with reason `version` when the row is not at `ifVersion` any more
 */
export async function updatePool(
  store: Queries,
  {
    tenantId,
    poolId,
    policy,
    ifVersion,
  }: { tenantId: string; poolId: string; policy: PoolPolicy; ifVersion?: number },
): Promise<Row<'pools'>> {
  checkPoolPolicy(policy);
  const before = await requirePool(store, tenantId, poolId);
  const updated = await store
    .updateTable('pools')
    .set((row) => ({ policy: JSON.stringify(policy), version: row('version', '+', 1) }))
    .where('pool_id', '=', poolId)
    .$if(ifVersion !== undefined, (query) => query.where('version', '=', ifVersion ?? 0))
    .returningAll()
    .executeTakeFirst();
  if (updated !== undefined) return updated;
  const message = `pool ${poolId} was changed meanwhile: look at version ${before.version} first`;
  throw new RailheadError('CONFLICT', message, {
    path: 'ifVersion',
    reason: 'version',
    version: before.version,
  });
}

export function presentPool(row: Row<'pools'>) {
  return {
    poolId: row.pool_id,
    tenantId: row.tenant_id,
    siteId: row.site_id,
    class: row.class,
    policy: readPoolPolicy(row.policy),
    version: row.version,
    createdAt: row.created_at,
  };
}
