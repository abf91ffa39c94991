import Type from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import { pageFields } from '../api/cursor.ts';
import { tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { createProfile, deleteProfile, updateProfile } from '../profiles/change.ts';
import { found, requireOwnProfile, requireProfile } from '../profiles/find.ts';
import { listProfiles, presentProfile } from '../profiles/list.ts';
import { profileProblems } from '../profiles/problems.ts';
import { planWorkflow } from '../workflows/plan.ts';

const closed = { additionalProperties: false };
const ProfileId = Type.String({ minLength: 1, maxLength: 128 });
const Version = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Document = Type.Record(Type.String(), Type.Unknown());
const Visibility = Type.Enum(['private', 'public']);

const OneProfile = Type.Object(
  { tenantId: TenantId, profileId: ProfileId, profileVersion: Type.Optional(Version) },
  closed,
);
const CreateProfile = Type.Object(
  {
    tenantId: TenantId,
    document: Document,
    visibility: Type.Enum(['private', 'public'], { default: 'private' }),
  },
  closed,
);
const UpdateProfile = Type.Object(
  {
    tenantId: TenantId,
    profileId: ProfileId,
    profileVersion: Type.Optional(Version),
    document: Type.Optional(Document),
    visibility: Type.Optional(Visibility),
    /** Refuses the change when the row is not of this `rowVersion` any more. */
    ifVersion: Type.Optional(Version),
  },
  closed,
);

const manage = { kind: 'mutation', action: 'compute:profiles:manage' } as const;
const read = { kind: 'read', action: 'compute:profiles:read' } as const;
const scopes = ({ tenantId }: { tenantId: string }) => tenantScopes(tenantId);

/** Versioned recipes for machines. `profileVersion` is the latest one when it is left out. */
export const profiles: Group = {
  create: method({
    ...manage,
    input: CreateProfile,
    scopes,
    run: async ({ store }, { tenantId, document, visibility }) =>
      presentProfile(found(await createProfile(store, tenantId, document, visibility))),
  }),
  get: method({
    ...read,
    input: OneProfile,
    scopes,
    run: async (context, { tenantId, profileId, profileVersion }) =>
      presentProfile(await requireProfile(context, tenantId, profileId, profileVersion)),
  }),
  list: method({
    ...read,
    input: Type.Object({ tenantId: TenantId, ...pageFields }, closed),
    scopes,
    run: (context, input) => listProfiles(context, input),
  }),
  validate: method({
    ...read,
    input: OneProfile,
    scopes,
    run: async (context, { tenantId, profileId, profileVersion }) => {
      const { profile } = await requireProfile(context, tenantId, profileId, profileVersion);
      const issues = await profileProblems(context, tenantId, profile);
      return { profileId, profileVersion: profile.version, valid: issues.length === 0, issues };
    },
  }),
  render: method({
    ...read,
    input: OneProfile,
    scopes,
    run: async (context, { tenantId, profileId, profileVersion }) => {
      const { profile } = await requireProfile(context, tenantId, profileId, profileVersion);
      return { profileId, profileVersion: profile.version, steps: planWorkflow(profile) };
    },
  }),
  update: method({
    ...manage,
    input: UpdateProfile,
    scopes,
    run: async (context, { tenantId, profileId, profileVersion, ...change }) => {
      if (change.document === undefined && change.visibility === undefined)
        throw new RailheadError('INVALID_INPUT', 'give a document or a visibility to change', {
          path: 'document',
        });
      const row = await requireOwnProfile(context, tenantId, profileId, profileVersion);
      return presentProfile(found(await updateProfile(context.store, row, change)));
    },
  }),
  delete: method({
    ...manage,
    input: OneProfile,
    scopes,
    run: async (context, { tenantId, profileId, profileVersion }) => {
      await requireOwnProfile(context, tenantId, profileId, profileVersion);
      return { deleted: await deleteProfile(context.store, tenantId, profileId, profileVersion) };
    },
  }),
};
