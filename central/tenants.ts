import { RailheadError } from '#contract/errors.ts';
import { revokeFamily } from './api/tokens.ts';
import { rootTenant } from './images/signers.ts';
import { isDuplicate, now, type Queries, type Store } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** The tenant under which the shipped profiles are listed; it is no record. */
const builtinTenant = 'builtin';

/** @throws RailheadError NOT_FOUND */
export async function requireTenant(store: Queries, tenantId: string): Promise<Row<'tenants'>> {
  const tenant = await store
    .selectFrom('tenants')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  if (tenant === undefined)
    throw new RailheadError('NOT_FOUND', `there is no tenant ${tenantId}: tenants.list shows them`, {
      path: 'tenantId',
      tenantId,
    });
  return tenant;
}

/** @throws RailheadError CONFLICT when there is one; INVALID_INPUT for the name under which the shipped profiles are */
export async function createTenant(
  store: Queries,
  { tenantId, name }: { tenantId: string; name: string },
): Promise<Row<'tenants'>> {
  if (tenantId === builtinTenant)
    throw new RailheadError(
      'INVALID_INPUT',
      `${builtinTenant} is where the shipped profiles are: take another id`,
      {
        path: 'tenantId',
      },
    );
  const row = { tenant_id: tenantId, name, created_at: now() };
  try {
    await store.insertInto('tenants').values(row).execute();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new RailheadError('CONFLICT', `there is a tenant ${tenantId} already`, { path: 'tenantId' }, error);
  }
  return row;
}

/**
 * Removes a tenant that owns nothing, and revokes its tokens.
 * @throws RailheadError NOT_FOUND; INVALID_STATE while something is its own, naming the first kind of thing
 */
export function removeTenant(store: Store, tenantId: string): Promise<void> {
  return store.transaction().execute(async (queries) => {
    await requireTenant(queries, tenantId);
    const holds = tenantId === rootTenant ? 'the platform' : await firstBelonging(queries, tenantId);
    if (holds !== undefined)
      throw new RailheadError('INVALID_STATE', `tenant ${tenantId} has ${holds}: remove them first`, {
        path: 'tenantId',
        reason: 'in-use',
        holds,
      });
    const tokens = await queries
      .selectFrom('tokens')
      .select('token_id')
      .where('tenant_id', '=', tenantId)
      .where('revoked_at', 'is', null)
      .execute();
    await revokeFamily(
      queries,
      tokens.map((row) => row.token_id),
    );
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
