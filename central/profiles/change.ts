import { RailheadError } from '#contract/errors.ts';
import { checkProfile, type Profile } from '#contract/profiles.ts';
import { isDuplicate, now, type Queries, type Store } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { inTenant } from '../tenants.ts';
import { builtinTenant } from './builtin.ts';

type Visibility = 'private' | 'public';

/**
 * Stores a new version.
 * @throws RailheadError INVALID_INPUT for a document that is no profile, CONFLICT when the version exists or once did
 */
export async function createProfile(
  store: Store,
  tenantId: string,
  document: unknown,
  visibility: Visibility,
): Promise<Row<'profiles'>> {
  if (tenantId === builtinTenant)
    throw new RailheadError(
      'INVALID_INPUT',
      `${builtinTenant} holds what ships with the centre: name your tenant`,
      {
        path: 'tenantId',
      },
    );
  const profile = checkProfile(document, 'INVALID_INPUT');
  return inTenant(store, tenantId, (queries) => insertProfile(queries, tenantId, profile, visibility));
}

async function insertProfile(
  queries: Queries,
  tenantId: string,
  profile: Profile,
  visibility: Visibility,
): Promise<Row<'profiles'>> {
  try {
    return await queries
      .insertInto('profiles')
      .values({
        tenant_id: tenantId,
        profile_id: profile.id,
        version: profile.version,
        document: JSON.stringify(profile),
        visibility,
        used_at: null,
        created_at: now(),
        deleted_at: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = `profile ${profile.id} has, or once had, a version ${profile.version}: bump the version`;
    throw new RailheadError('CONFLICT', message, { path: 'version' }, error);
  }
}

/** What becomes of a stored version. */
export interface ProfileChange {
  document?: unknown;
  visibility?: Visibility | undefined;
  /** The row version that the caller has seen. */
  ifVersion?: number | undefined;
}

/**
 * Replaces the document of a version that no workflow has used, or changes who sees it.
 * @throws RailheadError INVALID_STATE for the document of a used version, CONFLICT when the row is not of `ifVersion` any more,
 *   INVALID_INPUT for a document that is no profile or another one
 */
export async function updateProfile(
  store: Queries,
  row: Row<'profiles'>,
  { document, visibility, ifVersion }: ProfileChange,
): Promise<Row<'profiles'>> {
  const profile = document === undefined ? undefined : replacement(row, document);
  if (ifVersion !== undefined && ifVersion !== row.row_version) throw changedMeanwhile(row, ifVersion);
  if (profile !== undefined && row.used_at !== null) throw inUse(row);
  let query = store
    .updateTable('profiles')
    .set({
      row_version: row.row_version + 1,
      ...(profile === undefined ? {} : { document: JSON.stringify(profile) }),
      ...(visibility === undefined ? {} : { visibility }),
    })
    .where('tenant_id', '=', row.tenant_id)
    .where('profile_id', '=', row.profile_id)
    .where('version', '=', row.version)
    .where('row_version', '=', row.row_version)
    .where('deleted_at', 'is', null);
  // A workflow may begin to use it between the look and the change.
  if (profile !== undefined) query = query.where('used_at', 'is', null);
  const changed = await query.returningAll().executeTakeFirst();
  if (changed === undefined) throw changedMeanwhile(row, row.row_version);
  return changed;
}

/**
 * Hides one version, or all of an id, from new workflows. A hidden version's number is not given again.
 * Returns how many it hid.
 */
export async function deleteProfile(
  store: Queries,
  tenantId: string,
  profileId: string,
  version: number | undefined,
): Promise<number> {
  let query = store
    .updateTable('profiles')
    .set({ deleted_at: now() })
    .where('tenant_id', '=', tenantId)
    .where('profile_id', '=', profileId)
    .where('deleted_at', 'is', null);
  if (version !== undefined) query = query.where('version', '=', version);
  const { numUpdatedRows } = await query.executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

function replacement(row: Row<'profiles'>, document: unknown): Profile {
  const profile = checkProfile(document, 'INVALID_INPUT');
  const { profile_id: id, version } = row;
  const other = profile.id !== id ? 'id' : profile.version !== version ? 'version' : undefined;
  if (other === undefined) return profile;
  throw new RailheadError(
    'INVALID_INPUT',
    `${other}: the document replaces ${id}@${version}; create stores another one`,
    {
      path: other,
    },
  );
}

function inUse({ profile_id: id, version, used_at: usedAt }: Row<'profiles'>): RailheadError {
  const message = `${id}@${version} was used by a workflow and does not change any more: bump the version`;
  return new RailheadError('INVALID_STATE', message, { reason: 'used', usedAt });
}

function changedMeanwhile({ row_version: found }: Row<'profiles'>, expected: number): RailheadError {
  return new RailheadError('CONFLICT', 'the profile was changed or used meanwhile: read it again', {
    path: 'ifVersion',
    reason: 'row-version',
    expected,
    found,
  });
}
