import { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import type { CentralContext } from '../context.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { rootTenant } from '../tenants.ts';
import { builtinTenant } from './builtin.ts';

/** A stored or shipped profile. */
export interface FoundProfile {
  tenantId: string;
  profile: Profile;
  /** The stored row; undefined for a shipped one. */
  row?: Row<'profiles'>;
}

/**
 * A profile by id, the latest version when none is named: the tenant's own, then a public stored one, then a shipped one. When several
 * tenants have public ones of the id, they are all of one owner: the platform, else whoever stored the id first.
 * @throws RailheadError NOT_FOUND
 */
export async function requireProfile(
  { store, shippedProfiles }: Pick<CentralContext, 'store' | 'shippedProfiles'>,
  tenantId: string,
  profileId: string,
  version?: number,
): Promise<FoundProfile> {
  const row = await findStored(store, tenantId, profileId, version);
  if (row !== undefined) return found(row);
  const profile = shippedProfiles.find(profileId, version);
  if (profile !== undefined) return { tenantId: builtinTenant, profile };
  throw noProfile(tenantId, profileId, version);
}

/**
 * The tenant's own stored profile, to change it.
 * @throws RailheadError NOT_FOUND; INVALID_STATE for a shipped one, which is read-only
 */
export async function requireOwnProfile(
  { store, shippedProfiles }: Pick<CentralContext, 'store' | 'shippedProfiles'>,
  tenantId: string,
  profileId: string,
  version?: number,
): Promise<Row<'profiles'>> {
  const row = await findStored(store, tenantId, profileId, version);
  if (row?.tenant_id === tenantId) return row;
  if (row === undefined && shippedProfiles.find(profileId, version) !== undefined)
    throw new RailheadError(
      'INVALID_STATE',
      `${profileId} ships with the centre and is read-only: store a copy of another id`,
      {
        path: 'profileId',
        reason: 'shipped',
      },
    );
  throw noProfile(tenantId, profileId, version);
}

export function found(row: Row<'profiles'>): FoundProfile {
  return { tenantId: row.tenant_id, profile: JSON.parse(row.document) as Profile, row };
}

async function findStored(
  store: Queries,
  tenantId: string,
  profileId: string,
  version: number | undefined,
): Promise<Row<'profiles'> | undefined> {
  const rows = await store
    .selectFrom('profiles')
    .selectAll()
    .where('profile_id', '=', profileId)
    .where('deleted_at', 'is', null)
    .where((where) => where.or([where('tenant_id', '=', tenantId), where('visibility', '=', 'public')]))
    .orderBy('created_at')
    .orderBy('tenant_id')
    .execute();
  // Whose counts does not depend on the versions: nobody gets before another by a higher number.
  const owners = new Set([tenantId, rootTenant, ...rows.map((row) => row.tenant_id)]);
  for (const owner of owners) {
    const versions = rows.filter((row) => row.tenant_id === owner);
    const wanted = versions.filter((row) => version === undefined || row.version === version);
    const [latest] = wanted.toSorted((one, other) => other.version - one.version);
    if (latest !== undefined) return latest;
  }
  return undefined;
}

function noProfile(tenantId: string, profileId: string, version: number | undefined): RailheadError {
  const which = version === undefined ? profileId : `${profileId} of version ${version}`;
  return new RailheadError('NOT_FOUND', `there is no profile ${which} for ${tenantId}`, {
    path: 'profileId',
  });
}
