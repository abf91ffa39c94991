import type { Profile } from '#contract/profiles.ts';
import { decodeCursor, pageOf } from '../api/cursor.ts';
import type { CentralContext } from '../context.ts';
import type { Row } from '../store/tables.ts';
import { builtinTenant } from './builtin.ts';
import { type FoundProfile, found } from './find.ts';

type Key = [profileId: string, version: number, tenantId: string];

/** A page of the tenant's own profiles, public ones and those that ship, by id, version and tenant. */
export async function listProfiles(
  { store, shippedProfiles }: Pick<CentralContext, 'store' | 'shippedProfiles'>,
  { tenantId, limit, cursor }: { tenantId: string; limit: number; cursor?: string },
) {
  const after =
    cursor === undefined ? undefined : (decodeCursor(cursor, 'string', 'number', 'string') as Key);
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
  return pageOf(merged, limit, keyOf, presentProfile);
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
