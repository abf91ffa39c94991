import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { hotRead } from '../store/hotRead.ts';
import { newSecretToken, tokenHash } from '../store/secretTokens.ts';
import { fromNow, now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import type { Grant } from './grants.ts';

/** Who calls: the token's id, and what it may do. */
export interface Caller {
  tokenId: string;
  grants: readonly Grant[];
}

/** Mints an operator's token. The token itself is returned once; its hash is stored. */
export async function createToken(
  store: Queries,
  { name, grants, validMs }: { name: string; grants: readonly Grant[]; validMs: number },
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
    })
    .execute();
  return { tokenId, token, expiresAt };
}

/** @throws RailheadError NOT_FOUND when there is no such token in use */
export async function revokeToken(store: Queries, tokenId: string): Promise<void> {
  const { numUpdatedRows } = await store
    .updateTable('tokens')
    .set({ revoked_at: now() })
    .where('token_id', '=', tokenId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw new RailheadError('NOT_FOUND', `there is no token ${tokenId} in use`);
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
  const row = await tokenByHash(store, tokenHash(token));
  if (row === undefined || row.revoked_at !== null)
    throw unauthenticated('this token is not known', 'unknown');
  if (row.expires_at <= now()) throw unauthenticated('this token has expired', 'expired');
  return { tokenId: row.token_id, grants: JSON.parse(row.grants) as Grant[] };
}

function unauthenticated(message: string, reason: string): RailheadError {
  return new RailheadError('UNAUTHENTICATED', `${message}: railhead central token create mints one`, {
    reason,
  });
}
