import Type from 'typebox';
import { durationMs, durationPattern } from '#contract/durations.ts';
import { RailheadError } from '#contract/errors.ts';
import { idPattern } from '#contract/ids.ts';
import { TenantId } from '#contract/images.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { mintBy, refuseBeyond } from '../api/delegation.ts';
import { fleet, Grant, type Scope, tenantScopes } from '../api/grants.ts';
import { type ApiContext, type Group, method } from '../api/method.ts';
import { type Caller, revokeToken } from '../api/tokens.ts';
import { present } from '../nodes.ts';
import { tokensTopic } from '../signals.ts';
import { fromNow, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

const closed = { additionalProperties: false };
/** Left out: the whole installation. */
const OfTenant = { tenantId: Type.Optional(TenantId) };
const CreateToken = Type.Object(
  {
    ...OfTenant,
    name: Type.String({ minLength: 1, maxLength: 128 }),
    grants: Type.Array(Grant, { minItems: 1, maxItems: 64 }),
    /** Default: 30 days, or as long as the token that mints it. */
    validFor: Type.Optional(Type.String({ pattern: durationPattern, maxLength: 16 })),
  },
  closed,
);
type CreateToken = Type.Static<typeof CreateToken>;
const TokenList = Type.Object({ ...OfTenant, ...pageFields }, closed);

const defaultValidMs = 30 * 24 * 3_600_000;
const longestValidMs = 366 * 24 * 3_600_000;

/** Operators' bearer tokens. */
export const tokens: Group = {
  create: method({
    kind: 'mutation',
    action: 'compute:tokens:manage',
    input: CreateToken,
    scopes: ownerScopes,
    run: (context, input, caller) => create(context, input, caller),
  }),
  list: method({
    kind: 'read',
    action: 'compute:tokens:read',
    input: TokenList,
    scopes: ownerScopes,
    run: ({ store }, input) => list(store, input),
  }),
  revoke: method({
    kind: 'mutation',
    action: 'compute:tokens:manage',
    input: Type.Object(
      { ...OfTenant, tokenId: Type.String({ maxLength: 56, pattern: idPattern('tok') }) },
      closed,
    ),
    scopes: ownerScopes,
    run: async ({ store, signals }, { tenantId, tokenId }) => {
      const revoked = await revokeToken(store, tokenId, tenantId);
      signals.notify(tokensTopic);
      return { tokenId, revoked };
    },
  }),
};

function ownerScopes({ tenantId }: { tenantId?: string }): Scope[] {
  return tenantId === undefined ? [fleet] : tenantScopes(tenantId);
}

async function create({ store }: ApiContext, input: CreateToken, caller: Caller) {
  const { tenantId, name, grants } = input;
  const validMs = validity(input.validFor, caller);
  await refuseBeyond(store, caller, { grants, expiresAt: fromNow(validMs) });
  const minted = await mintBy(store, caller, { tenantId, name, grants, validMs });
  return { ...minted, name, grants, ...present({ tenantId }) };
}

function validity(validFor: string | undefined, { expiresAt }: Caller): number {
  // A second less, so that it does not outlive the one that mints it.
  if (validFor === undefined) return Math.min(defaultValidMs, Date.parse(expiresAt) - Date.now() - 1000);
  const validMs = durationMs(validFor);
  if (validMs <= longestValidMs) return validMs;
  throw new RailheadError('INVALID_INPUT', 'validFor: a token is good for 366 days at most', {
    path: 'validFor',
  });
}

async function list(store: Queries, { tenantId, limit, cursor }: Type.Static<typeof TokenList>) {
  let query = store
    .selectFrom('tokens')
    .selectAll()
    .orderBy('token_id')
    .limit(limit + 1);
  if (tenantId !== undefined) query = query.where('tenant_id', '=', tenantId);
  if (cursor !== undefined) query = query.where('token_id', '>', decodeCursor(cursor, 'string')[0]);
  return pageOf(await query.execute(), limit, (row) => [row.token_id], presentToken);
}

function presentToken(row: Row<'tokens'>) {
  return {
    tokenId: row.token_id,
    name: row.name,
    grants: JSON.parse(row.grants) as Grant[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...present({ tenantId: row.tenant_id, parentId: row.parent_id, revokedAt: row.revoked_at }),
  };
}
