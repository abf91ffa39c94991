import { RailheadError } from '#contract/errors.ts';
import { forShare } from './store/rowLocks.ts';
import { isDuplicate, now, type Queries, type Store } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** The tenant that the platform itself is: its signers vouch for every tenant's images. */
export const rootTenant = 'root';
/** The tenant under which the shipped profiles are listed; it is no record. */
const builtinTenant = 'builtin';

/** @throws RailheadError NOT_FOUND */
export async function requireTenant(store: Queries, tenantId: string): Promise<Row<'tenants'>> {
  const tenant = await store
    .selectFrom('tenants')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  if (tenant === undefined) throw noTenant(tenantId);
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
 * Makes something that is to belong to a tenant, in one transaction: the tenant is there until it is made, and who removes the tenant
 * then finds it.
 * @throws RailheadError NOT_FOUND
 */
export function inTenant<Value>(
  store: Store,
  tenantId: string,
  make: (queries: Queries) => Promise<Value>,
): Promise<Value> {
  return store.transaction().execute(async (queries) => {
    await keepTenant(queries, tenantId);
    return make(queries);
  });
}

/**
 * Has a tenant stay until the transaction ends.
 * @throws RailheadError NOT_FOUND
 */
export async function keepTenant(queries: Queries, tenantId: string): Promise<void> {
  const query = queries.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', tenantId);
  if ((await forShare(queries, query).executeTakeFirst()) === undefined) throw noTenant(tenantId);
}

export function noTenant(tenantId: string): RailheadError {
  const message = `there is no tenant ${tenantId}: tenants.list shows them`;
  return new RailheadError('NOT_FOUND', message, { path: 'tenantId', tenantId });
}
