import Type from 'typebox';
import { TenantId } from '#contract/images.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { fleet, tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { tokensTopic } from '../signals.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { removeTenant } from '../tenantRemoval.ts';
import { createTenant, requireTenant } from '../tenants.ts';

const closed = { additionalProperties: false };
const Name = Type.String({ minLength: 1, maxLength: 128 });
const OneTenant = Type.Object({ tenantId: TenantId }, closed);

/** Who owns images, profiles, pools and machines. */
export const tenants: Group = {
  create: method({
    kind: 'mutation',
    action: 'compute:tenants:manage',
    input: Type.Object({ tenantId: TenantId, name: Type.Optional(Name) }, closed),
    scopes: () => [fleet],
    makesTenant: true,
    run: async ({ store }, { tenantId, name = tenantId }) =>
      presentTenant(await createTenant(store, { tenantId, name })),
  }),
  get: method({
    kind: 'read',
    action: 'compute:tenants:read',
    input: OneTenant,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store }, { tenantId }) => presentTenant(await requireTenant(store, tenantId)),
  }),
  list: method({
    kind: 'read',
    action: 'compute:tenants:read',
    input: Type.Object(pageFields, closed),
    scopes: () => [fleet],
    items: 'compute-tenant',
    run: ({ store }, input, { only }) => list(store, input, only),
  }),
  update: method({
    kind: 'mutation',
    action: 'compute:tenants:manage',
    input: Type.Object({ tenantId: TenantId, name: Name }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store }, { tenantId, name }) => {
      await store.updateTable('tenants').set({ name }).where('tenant_id', '=', tenantId).execute();
      return presentTenant(await requireTenant(store, tenantId));
    },
  }),
  delete: method({
    kind: 'mutation',
    action: 'compute:tenants:manage',
    input: OneTenant,
    scopes: () => [fleet],
    run: async ({ store, signals }, { tenantId }) => {
      await removeTenant(store, tenantId);
      signals.notify(tokensTopic);
      return { tenantId };
    },
  }),
};

async function list(
  store: Queries,
  { limit, cursor }: { limit: number; cursor?: string },
  only: readonly string[] | undefined,
) {
  let query = store
    .selectFrom('tenants')
    .selectAll()
    .orderBy('tenant_id')
    .limit(limit + 1);
  if (only !== undefined) query = query.where('tenant_id', 'in', only);
  if (cursor !== undefined) query = query.where('tenant_id', '>', decodeCursor(cursor, 'string')[0]);
  return pageOf(await query.execute(), limit, (row) => [row.tenant_id], presentTenant);
}

function presentTenant({ tenant_id: tenantId, name, created_at: createdAt }: Row<'tenants'>) {
  return { tenantId, name, createdAt };
}
