import { RailheadError } from '#contract/errors.ts';
import type { Queries } from './store/store.ts';
import type { Row } from './store/tables.ts';

/**
 * A profile by id, the latest version when none is named: the tenant's own before a public one.
 * @throws RailheadError NOT_FOUND
 */
export async function requireProfile(
  store: Queries,
  tenantId: string,
  profileId: string,
  version?: number,
): Promise<Row<'profiles'>> {
  let query = store
    .selectFrom('profiles')
    .selectAll()
    .where('profile_id', '=', profileId)
    .where((where) => where.or([where('tenant_id', '=', tenantId), where('visibility', '=', 'public')]))
    .orderBy('version', 'desc');
  if (version !== undefined) query = query.where('version', '=', version);
  const rows = await query.execute();
  const profile = rows.find((row) => row.tenant_id === tenantId) ?? rows[0];
  if (profile === undefined)
    throw new RailheadError(
      'NOT_FOUND',
      `there is no profile ${profileId}${atVersion(version)} for ${tenantId}`,
      {
        path: 'profileId',
      },
    );
  return profile;
}

function atVersion(version: number | undefined): string {
  return version === undefined ? '' : ` of version ${version}`;
}
