import { createHash } from 'node:crypto';
import type { Profile } from '#contract/profiles.ts';
import { decodeCursor, foreignCursor, pageOf } from '../api/cursor.ts';
import type { CentralContext } from '../context.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { builtinTenant } from './builtin.ts';
import { type FoundProfile, found } from './find.ts';

type Key = [profileId: string, version: number, tenantId: string];

/** A page of the tenant's own profiles, public ones and those that ship, by id, version and tenant. */
export async function listProfiles(
  { store, shippedProfiles }: Pick<CentralContext, 'store' | 'shippedProfiles'>,
  { tenantId, limit, cursor }: { tenantId: string; limit: number; cursor?: string },
) {
  const after = cursor === undefined ? undefined : await positionOf(store, cursor);
  let query = store
    .selectFrom('profiles')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where((where) => where.or([where('tenant_id', '=', tenantId), where('visibility', '=', 'public')]))
    .orderBy('profile_id')
    .orderBy('version')
    .orderBy('tenant_id')
    .limit(limit + 1);
  if (after !== undefined) {
    const [id, version, owner] = after;
    query = query.where((where) =>
      where.or([
        where('profile_id', '>', id),
        where.and([where('profile_id', '=', id), where('version', '>', version)]),
        where.and([
          where('profile_id', '=', id),
          where('version', '=', version),
          where('tenant_id', '>', owner),
        ]),
      ]),
    );
  }
  const stored = (await query.execute()).map(found);
  const shipped = shippedProfiles.all.map((profile) => ({ tenantId: builtinTenant, profile }));
  const newer = shipped.filter((one) => after === undefined || compare(keyOf(one), after) > 0);
  const merged = [...stored, ...newer].toSorted((one, other) => compare(keyOf(one), keyOf(other)));
  return pageOf(merged, limit, positionKey, presentProfile);
}

/** What a cursor holds: with both ids in full it would be longer than a cursor may be, so the owner's is shortened to a hash. */
function positionKey({ tenantId, profile }: FoundProfile): Key {
  return [profile.id, profile.version, ownerMark(tenantId)];
}

/**
 * The profile that the page before ended with, deleted since or not.
 * @throws RailheadError INVALID_INPUT for a cursor that no page gave
 */
async function positionOf(store: Queries, cursor: string): Promise<Key> {
  const [id, version, mark] = decodeCursor(cursor, 'string', 'number', 'string');
  const rows = await store
    .selectFrom('profiles')
    .select('tenant_id')
    .where('profile_id', '=', id)
    .where('version', '=', version)
    .execute();
  const owners = [builtinTenant, ...rows.map((row) => row.tenant_id)];
  const owner = owners.find((tenantId) => ownerMark(tenantId) === mark);
  if (owner === undefined) throw foreignCursor();
  return [id, version, owner];
}

function ownerMark(tenantId: string): string {
  return createHash('sha256').update(tenantId).digest('base64url').slice(0, 16);
}

/** A profile as the API answers it. */
export function presentProfile({ tenantId, profile, row }: FoundProfile) {
  return {
    tenantId,
    profileId: profile.id,
    profileVersion: profile.version,
    visibility: row?.visibility ?? ('public' as const),
    used: row === undefined || row.used_at !== null,
    ...(row === undefined ? {} : { rowVersion: row.row_version, ...times(row) }),
    document: profile as Profile,
  };
}

function times({ created_at: createdAt, used_at: usedAt }: Row<'profiles'>) {
  return usedAt === null ? { createdAt } : { createdAt, usedAt };
}

function keyOf({ tenantId, profile }: FoundProfile): Key {
  return [profile.id, profile.version, tenantId];
}

function compare(one: Key, other: Key): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  if (at === -1) return 0;
  return (one[at] as string) < (other[at] as string) ? -1 : 1;
}
