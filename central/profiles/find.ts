import { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import type { CentralContext } from '../context.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { builtinTenant } from './builtin.ts';

/** A stored or shipped profile. */
export interface FoundProfile {
  tenantId: string;
  profile: Profile;
  /** The stored row; undefined for a shipped one. */
  row?: Row<'profiles'>;
}

/**
 * A profile by id, the latest version when none is named: the tenant's own, then a public stored one, then a shipped one.
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
  let query = store
    .selectFrom('profiles')
    .selectAll()
    .where('profile_id', '=', profileId)
    .where('deleted_at', 'is', null)
    .where((where) => where.or([where('tenant_id', '=', tenantId), where('visibility', '=', 'public')]))
    .orderBy('version', 'desc')
    .orderBy('created_at');
  if (version !== undefined) query = query.where('version', '=', version);
  const rows = await query.execute();
  return rows.find((row) => row.tenant_id === tenantId) ?? rows[0];
}

function noProfile(tenantId: string, profileId: string, version: number | undefined): RailheadError {
  const which = version === undefined ? profileId : `${profileId} of version ${version}`;
  return new RailheadError('NOT_FOUND', `there is no profile ${which} for ${tenantId}`, {
    path: 'profileId',
  });
}
