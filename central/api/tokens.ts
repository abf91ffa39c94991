import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { hotRead } from '../store/hotRead.ts';
import { newSecretToken, tokenHash } from '../store/secretTokens.ts';
import { fromNow, now, type Queries, type Store } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import type { Grant } from './grants.ts';

/** Who calls: the token's id, until when it is good, and what it may do. */
export interface Caller {
  tokenId: string;
  expiresAt: string;
  grants: readonly Grant[];
  /** What the caller may see of a list that it was let into for single items alone; undefined: all of it. */
  only?: readonly string[];
}

export interface NewToken {
  /** Whose it is, for people. */
  name: string;
  grants: readonly Grant[];
  validMs: number;
  /** The tenant that it belongs to, whose administrators may list and revoke it. */
  tenantId?: string | undefined;
  /** The token that minted it, with which it is revoked; none on the host. */
  parentId?: string;
}

/** Mints an operator's token. The token itself is returned once; its hash is stored. */
export async function createToken(
  store: Queries,
  { name, grants, validMs, tenantId, parentId }: NewToken,
): Promise<{ tokenId: string; token: string; expiresAt: string }> {
  const token = newSecretToken('rht');
  const tokenId = newId('tok');
  const expiresAt = fromNow(validMs);
  await store
    .insertInto('tokens')
    .values({
      token_id: tokenId,
      name,
      hash: tokenHash(token),
      grants: JSON.stringify(grants),
      created_at: now(),
      expires_at: expiresAt,
      revoked_at: null,
      tenant_id: tenantId ?? null,
      parent_id: parentId ?? null,
    })
    .execute();
  return { tokenId, token, expiresAt };
}

/**
 * Revokes a token and every one that was minted by it, however far down. Returns the ids.
 * @throws RailheadError NOT_FOUND when there is no such token in use, or the tenant that is named has none
 */
export function revokeToken(store: Store, tokenId: string, tenantId?: string): Promise<string[]> {
  return store.transaction().execute(async (queries) => {
    const token = await queries
      .selectFrom('tokens')
      .selectAll()
      .where('token_id', '=', tokenId)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (token === undefined || (tenantId !== undefined && token.tenant_id !== tenantId))
      throw new RailheadError('NOT_FOUND', `there is no token ${tokenId} in use`, { path: 'tokenId' });
    return revokeFamily(queries, [tokenId]);
  });
}

/**
 * Revokes tokens and all that came from them. Parents go before one looks for children: whoever mints by one of them at the same time
 * has done so by then, or comes too late.
 */
export async function revokeFamily(queries: Queries, tokenIds: readonly string[]): Promise<string[]> {
  const family: string[] = [];
  for (let generation = tokenIds; generation.length > 0; ) {
    await queries
      .updateTable('tokens')
      .set({ revoked_at: now() })
      .where('token_id', 'in', generation)
      .where('revoked_at', 'is', null)
      .execute();
    family.push(...generation);
    const children = await queries
      .selectFrom('tokens')
      .select('token_id')
      .where('parent_id', 'in', generation)
      .execute();
    generation = children.map((row) => row.token_id);
  }
  return family;
}

export function listTokens(store: Queries): Promise<Row<'tokens'>[]> {
  return store.selectFrom('tokens').selectAll().orderBy('token_id').execute();
}

const tokenByHash = hotRead((store) => store.selectFrom('tokens').selectAll().where('hash', '=', ''));

/**
 * The caller behind an `Authorization: Bearer` header.
 * @throws RailheadError UNAUTHENTICATED
 */
export async function authenticate(store: Queries, authorization: string | undefined): Promise<Caller> {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw unauthenticated('send Authorization: Bearer and a token', 'missing');
  return callerOf(await tokenByHash(store, tokenHash(token)));
}

/**
 * Whether a token that was let in is still good.
 * @throws RailheadError UNAUTHENTICATED
 */
export async function requireGood(store: Queries, tokenId: string): Promise<void> {
  callerOf(await store.selectFrom('tokens').selectAll().where('token_id', '=', tokenId).executeTakeFirst());
}

function callerOf(row: Row<'tokens'> | undefined): Caller {
  if (row === undefined) throw unauthenticated('this token is not known', 'unknown');
  if (row.revoked_at !== null) throw unauthenticated('this token was revoked', 'revoked');
  if (row.expires_at <= now()) throw unauthenticated('this token has expired', 'expired');
  return {
    tokenId: row.token_id,
    expiresAt: row.expires_at,
    grants: JSON.parse(row.grants) as Grant[],
  };
}

function unauthenticated(message: string, reason: string): RailheadError {
  return new RailheadError(
    'UNAUTHENTICATED',
    `${message}: tokens.create or railhead central token create mint one`,
    {
      reason,
    },
  );
}
