import { RailheadError } from '#contract/errors.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { rootTenant } from '../tenants.ts';

/**
 * The image that `ref` means for a tenant: its own first, then a public one: the platform's, else the first that was registered.
 * @throws RailheadError NOT_FOUND
 */
export async function resolveImage(store: Queries, tenantId: string, ref: string): Promise<Row<'images'>> {
  const image = await findImage(store, tenantId, ref);
  if (image === undefined)
    throw new RailheadError('NOT_FOUND', `tenant ${tenantId} has no image ${ref}, and none is public`, {
      ref,
    });
  return image;
}

export async function findImage(
  store: Queries,
  tenantId: string,
  ref: string,
): Promise<Row<'images'> | undefined> {
  const candidates = await store
    .selectFrom('images')
    .selectAll()
    .where('ref', '=', ref)
    .where((where) => where.or([where('tenant_id', '=', tenantId), where('visibility', '=', 'public')]))
    .orderBy('created_at')
    .orderBy('image_id')
    .execute();
  const of = (owner: string) => candidates.find((image) => image.tenant_id === owner);
  return of(tenantId) ?? of(rootTenant) ?? candidates[0];
}
