import Type from 'typebox';
import { TenantId } from '#contract/images.ts';
import { Time } from '#contract/time.ts';
import { pageSchema } from '../api/cursor.ts';
import { Grant } from '../api/grants.ts';

const Tenant = Type.Object({ tenantId: TenantId, name: Type.String(), createdAt: Time });

const token = {
  tokenId: Type.String(),
  name: Type.String(),
  grants: Type.Array(Grant),
  expiresAt: Time,
  tenantId: Type.Optional(TenantId),
};
const Token = Type.Object({
  ...token,
  createdAt: Time,
  parentId: Type.Optional(Type.String()),
  revokedAt: Type.Optional(Time),
});

const secret = {
  secretId: Type.String(),
  tenantId: TenantId,
  ref: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  setAt: Time,
};
const Delivery = Type.Object({ agent: Type.String(), version: Type.Integer(), at: Type.String() });

const AuditRecord = Type.Object({
  auditId: Type.String(),
  at: Time,
  /** `token tok_…`, `host root`: who did it. */
  actor: Type.String(),
  method: Type.String(),
  action: Type.String(),
  scope: Type.String(),
  /** `begun`, `ok`, or the code of the error. */
  outcome: Type.String(),
  subject: Type.Record(Type.String(), Type.String()),
  tenantId: Type.Optional(Type.String()),
  address: Type.Optional(Type.String()),
  endedAt: Type.Optional(Time),
});

export const tenants = {
  create: Tenant,
  get: Tenant,
  list: pageSchema(Tenant),
  update: Tenant,
  delete: Type.Object({ tenantId: TenantId }),
};
export const tokens = {
  /** The token itself is told this once. */
  create: Type.Object({ ...token, token: Type.String() }),
  list: pageSchema(Token),
  revoke: Type.Object({ tokenId: Type.String(), revoked: Type.Array(Type.String()) }),
};
export const secrets = {
  set: Type.Object(secret),
  list: pageSchema(Type.Object({ ...secret, agents: Type.Array(Delivery) })),
  delete: Type.Object(secret),
};
export const audit = { list: pageSchema(AuditRecord) };
