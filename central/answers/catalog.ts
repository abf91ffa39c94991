import Type from 'typebox';
import { Image, TenantId } from '#contract/images.ts';
import { Time } from '#contract/time.ts';
import { pageSchema } from '../api/cursor.ts';

const Version = Type.Integer({ minimum: 1 });

const Profile = Type.Object({
  tenantId: TenantId,
  profileId: Type.String(),
  profileVersion: Version,
  visibility: Type.Enum(['private', 'public']),
  used: Type.Boolean(),
  /** For `ifVersion`; shipped profiles have none. */
  rowVersion: Type.Optional(Version),
  createdAt: Type.Optional(Time),
  usedAt: Type.Optional(Time),
  document: Type.Record(Type.String(), Type.Unknown()),
});

const Validity = Type.Object({
  profileId: Type.String(),
  profileVersion: Version,
  valid: Type.Boolean(),
  issues: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
});

const Rendered = Type.Object({
  profileId: Type.String(),
  profileVersion: Version,
  steps: Type.Array(Type.Object({ use: Type.String(), path: Type.String() })),
});

export const images = { register: Image, get: Image, list: pageSchema(Image), promote: Image };

export const profiles = {
  create: Profile,
  get: Profile,
  list: pageSchema(Profile),
  validate: Validity,
  render: Rendered,
  update: Profile,
  delete: Type.Object({ deleted: Type.Integer({ minimum: 1 }) }),
};
