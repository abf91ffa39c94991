import Type from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import { checkProfile, type Profile } from '#contract/profiles.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { requireProfile } from '../profiles.ts';
import { isDuplicate, now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { refuseUnsupported } from '../workflows/plan.ts';

const closed = { additionalProperties: false };
const CreateProfile = Type.Object(
  {
    tenantId: TenantId,
    document: Type.Record(Type.String(), Type.Unknown()),
    visibility: Type.Enum(['private', 'public'], { default: 'private' }),
  },
  closed,
);
const GetProfile = Type.Object(
  {
    tenantId: TenantId,
    profileId: Type.String({ maxLength: 128 }),
    profileVersion: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  closed,
);

/** Versioned recipes for machines. */
export const profiles: Group = {
  create: method({
    kind: 'mutation',
    action: 'compute:profiles:manage',
    input: CreateProfile,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store }, input) => presentProfile(await create(store, input)),
  }),
  get: method({
    kind: 'read',
    action: 'compute:profiles:read',
    input: GetProfile,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store }, { tenantId, profileId, profileVersion }) =>
      presentProfile(await requireProfile(store, tenantId, profileId, profileVersion)),
  }),
  list: method({
    kind: 'read',
    action: 'compute:profiles:read',
    input: Type.Object({ tenantId: TenantId, ...pageFields }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: ({ store }, input) => list(store, input),
  }),
};

async function create(
  store: Queries,
  { tenantId, document, visibility }: Type.Static<typeof CreateProfile>,
): Promise<Row<'profiles'>> {
  const profile = checkProfile(document, 'INVALID_INPUT');
  refuseUnsupported(profile);
  const row = {
    tenant_id: tenantId,
    profile_id: profile.id,
    version: profile.version,
    document: JSON.stringify(profile),
    visibility,
    used_at: null,
    created_at: now(),
  };
  try {
    await store.insertInto('profiles').values(row).execute();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = `profile ${profile.id} has a version ${profile.version} already: bump the version`;
    throw new RailheadError('CONFLICT', message, { path: 'version' }, error);
  }
  return row;
}

async function list(
  store: Queries,
  { tenantId, limit, cursor }: { tenantId: string; limit: number; cursor?: string },
) {
  let query = store
    .selectFrom('profiles')
    .selectAll()
    .where((where) => where.or([where('tenant_id', '=', tenantId), where('visibility', '=', 'public')]))
    .orderBy('profile_id')
    .orderBy('version')
    .orderBy('tenant_id')
    .limit(limit + 1);
  if (cursor !== undefined) {
    const [id, version, owner] = decodeCursor(cursor, 'string', 'number', 'string');
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
  const keyOf = (row: Row<'profiles'>) => [row.profile_id, row.version, row.tenant_id];
  return pageOf(await query.execute(), limit, keyOf, presentProfile);
}

function presentProfile(row: Row<'profiles'>) {
  const { tenant_id: tenantId, profile_id: profileId, version: profileVersion, visibility } = row;
  const document = JSON.parse(row.document) as Profile;
  return {
    tenantId,
    profileId,
    profileVersion,
    visibility,
    used: row.used_at !== null,
    createdAt: row.created_at,
    document,
  };
}
