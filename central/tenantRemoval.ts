import { RailheadError } from '#contract/errors.ts';
import type { Grant } from './api/grants.ts';
import { revokeFamily } from './api/tokens.ts';
import { revokeSignersOf } from './images/signers.ts';
import { forUpdate } from './store/rowLocks.ts';
import type { Queries, Store } from './store/store.ts';
import { noTenant, rootTenant } from './tenants.ts';

/**
 * Removes a tenant that owns nothing, with all that was trusted in its name: its tokens, what others may do in it, its signers. Whoever
 * makes a tenant of that id again begins anew.
 * @throws RailheadError NOT_FOUND; INVALID_STATE while something is its own, naming the first kind of thing
 */
export function removeTenant(store: Store, tenantId: string): Promise<void> {
  return store.transaction().execute(async (queries) => {
    const query = queries.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', tenantId);
    // Waits for who makes something of the tenant just now, and has the next one wait until it is gone.
    if ((await forUpdate(queries, query).executeTakeFirst()) === undefined) throw noTenant(tenantId);
    const holds = tenantId === rootTenant ? 'the platform' : await firstBelonging(queries, tenantId);
    if (holds !== undefined)
      throw new RailheadError('INVALID_STATE', `tenant ${tenantId} has ${holds}: remove them first`, {
        path: 'tenantId',
        reason: 'in-use',
        holds,
      });
    await revokeTokensOf(queries, tenantId);
    await withdrawGrantsOn(queries, tenantId);
    await revokeSignersOf(queries, tenantId);
    await queries.deleteFrom('tenants').where('tenant_id', '=', tenantId).execute();
  });
}

async function firstBelonging(queries: Queries, tenantId: string): Promise<string | undefined> {
  for (const table of ['images', 'profiles', 'pools', 'nodes', 'tenant_secrets'] as const) {
    const found = await queries
      .selectFrom(table)
      .select('tenant_id')
      .where('tenant_id', '=', tenantId)
      .executeTakeFirst();
    if (found !== undefined) return table;
  }
  return undefined;
}

async function revokeTokensOf(queries: Queries, tenantId: string): Promise<void> {
  const rows = await queries
    .selectFrom('tokens')
    .select('token_id')
    .where('tenant_id', '=', tenantId)
    .where('revoked_at', 'is', null)
    .execute();
  await revokeFamily(
    queries,
    rows.map((row) => row.token_id),
  );
}

/** Takes what concerns the tenant out of every other token's grants; a token that is left without any is revoked. */
async function withdrawGrantsOn(queries: Queries, tenantId: string): Promise<void> {
  const rows = await queries
    .selectFrom('tokens')
    .select(['token_id', 'grants'])
    .where('revoked_at', 'is', null)
    .where('grants', 'like', `%"${tenantId}"%`)
    .execute();
  for (const { token_id: tokenId, grants } of rows) {
    const before = JSON.parse(grants) as Grant[];
    const left = before.filter((grant) => grant.scopeKind !== 'compute-tenant' || grant.scopeId !== tenantId);
    if (left.length === 0) await revokeFamily(queries, [tokenId]);
    else if (left.length < before.length)
      await queries
        .updateTable('tokens')
        .set({ grants: JSON.stringify(left) })
        .where('token_id', '=', tokenId)
        .execute();
  }
}
