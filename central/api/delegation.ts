import { RailheadError } from '#contract/errors.ts';
import type { Queries, Store } from '../store/store.ts';
import { keepTenant } from '../tenants.ts';
import { fleet, type Grant, isGranted, type Scope, tenantScopes } from './grants.ts';
import { type Caller, createToken, type NewToken, requireGood } from './tokens.ts';

/**
 * A token never mints more than it may itself: each grant must lie within one of its own, and the new token ends no later.
 * @throws RailheadError FORBIDDEN naming the first grant, or the expiry, that goes beyond
 */
export async function refuseBeyond(
  store: Queries,
  caller: Caller,
  { grants, expiresAt }: { grants: readonly Grant[]; expiresAt: string },
): Promise<void> {
  for (const [index, grant] of grants.entries())
    if (!isGranted(caller.grants, grant.action, await scopesOf(store, grant)))
      throw new RailheadError('FORBIDDEN', 'a token cannot grant what it may not do itself', {
        path: `grants[${index}]`,
        reason: 'beyond-own',
      });
  if (expiresAt > caller.expiresAt)
    throw new RailheadError(
      'FORBIDDEN',
      `a token cannot mint one that outlives it: it ends ${caller.expiresAt}`,
      {
        path: 'validFor',
        reason: 'beyond-own',
        expiresAt: caller.expiresAt,
      },
    );
}

/**
 * Mints a token by another one, in one transaction with the question whether that one is still good: none is born after the family
 * that it would belong to was revoked.
 * @throws RailheadError NOT_FOUND for a tenant that was removed meanwhile, UNAUTHENTICATED when its parent was revoked, or has expired, meanwhile
 */
export function mintBy(store: Store, { tokenId }: Caller, token: NewToken) {
  return store.transaction().execute(async (queries) => {
    if (token.tenantId !== undefined) await keepTenant(queries, token.tenantId);
    await lockToken(queries, tokenId);
    await requireGood(queries, tokenId);
    return createToken(queries, { ...token, parentId: tokenId });
  });
}

/** A revocation at the same time waits, or was waited for. SQLite knows no SELECT FOR UPDATE. */
async function lockToken(queries: Queries, tokenId: string): Promise<void> {
  await queries
    .updateTable('tokens')
    .set((row) => ({ name: row.ref('name') }))
    .where('token_id', '=', tokenId)
    .execute();
}

/** What a grant is about, and the scopes that contain it, from narrow to wide. */
async function scopesOf(store: Queries, { scopeKind, scopeId }: Grant): Promise<Scope[]> {
  if (scopeKind === 'compute-fleet') return [fleet];
  const own = { kind: scopeKind, id: scopeId };
  const owner = await owners[scopeKind](store, scopeId);
  return owner === undefined ? [own, fleet] : [own, ...tenantScopes(owner)];
}

type Owner = (store: Queries, id: string) => Promise<string | undefined>;

/** The tenant that a thing belongs to; undefined for a tenant itself, and for what does not exist. */
const owners: Record<Exclude<Scope['kind'], 'compute-fleet'>, Owner> = {
  'compute-tenant': async () => undefined,
  'compute-image': async (store, id) =>
    (await store.selectFrom('images').select('tenant_id').where('image_id', '=', id).executeTakeFirst())
      ?.tenant_id,
  'compute-node': async (store, id) =>
    (await store.selectFrom('nodes').select('tenant_id').where('node_id', '=', id).executeTakeFirst())
      ?.tenant_id,
  'compute-workflow': async (store, id) =>
    (await store.selectFrom('workflows').select('tenant_id').where('workflow_id', '=', id).executeTakeFirst())
      ?.tenant_id,
};
