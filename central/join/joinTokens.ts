import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { newSecretToken, tokenHash } from '../store/secretTokens.ts';
import { fromNow, now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

export interface NewJoinToken {
  role: 'site' | 'node';
  /** For a site: its site id. */
  nodeId: string;
  /** Set on a `provisioned` token: the workflow whose OS it lets in. */
  workflowId?: string;
  validMs: number;
}

/** Mints a single-use join token. The token itself is returned once; its hash is stored. */
export async function createJoinToken(
  store: Queries,
  { role, nodeId, workflowId, validMs }: NewJoinToken,
): Promise<{ joinTokenId: string; token: string; expiresAt: string }> {
  const token = newSecretToken('rhj');
  const joinTokenId = newId('tok');
  const expiresAt = fromNow(validMs);
  const binding = { role, node_id: nodeId, workflow_id: workflowId ?? null };
  const times = { created_at: now(), expires_at: expiresAt, used_at: null, used_by: null, revoked_at: null };
  await store
    .insertInto('join_tokens')
    .values({ token_id: joinTokenId, hash: tokenHash(token), ...binding, ...times })
    .execute();
  return { joinTokenId, token, expiresAt };
}

/** Who wants in, and by which key: a repeated request by the same key, whose first answer was lost, may be answered again. */
export interface JoinClaim {
  role: 'site' | 'node';
  nodeId: string;
  usedBy: string;
}

/**
 * Whether a join token would let this claimant in, as far as the token itself says.
 * @throws RailheadError UNAUTHENTICATED; its details say why: `unknown`, `expired`, `used`, `revoked`, `other-identity`
 */
export async function checkJoinToken(store: Queries, token: string, claim: JoinClaim): Promise<void> {
  const reason = refusalReason(await findJoinToken(store, token), claim);
  if (reason !== undefined) throw tokenRefused(reason);
}

/**
 * Uses up a join token. One that the same claimant has used before is left as it is.
 * @throws RailheadError UNAUTHENTICATED; its details say why: `unknown`, `expired`, `used`, `revoked`, `other-identity`
 */
export async function useJoinToken(
  store: Queries,
  token: string,
  claim: JoinClaim,
): Promise<{ row: Row<'join_tokens'>; isFirst: boolean }> {
  // The check and the use are one statement: of two claimants at once, one is let in.
  const used = await store
    .updateTable('join_tokens')
    .set({ used_at: now(), used_by: claim.usedBy })
    .where('hash', '=', tokenHash(token))
    .where('role', '=', claim.role)
    .where('node_id', '=', claim.nodeId)
    .where('expires_at', '>', now())
    .where('revoked_at', 'is', null)
    .where('used_by', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (used !== undefined) return { row: used, isFirst: true };
  const known = await findJoinToken(store, token);
  const reason = refusalReason(known, claim);
  if (known === undefined || reason !== undefined) throw tokenRefused(reason ?? 'unknown');
  return { row: known, isFirst: false };
}

/** Whoever was, or could be, let in as this identity by a token, is not any more; returns how many tokens that were. */
export async function revokeJoinTokens(
  queries: Queries,
  identity: { role: 'site' | 'node'; id: string },
): Promise<number> {
  const { numUpdatedRows } = await queries
    .updateTable('join_tokens')
    .set({ revoked_at: now() })
    .where('role', '=', identity.role)
    .where('node_id', '=', identity.id)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

export function tokenRefused(reason: string): RailheadError {
  return new RailheadError('UNAUTHENTICATED', 'the join token is not accepted: ask for a new one', {
    reason,
  });
}

function findJoinToken(store: Queries, token: string): Promise<Row<'join_tokens'> | undefined> {
  return store.selectFrom('join_tokens').selectAll().where('hash', '=', tokenHash(token)).executeTakeFirst();
}

function refusalReason(row: Row<'join_tokens'> | undefined, claim: JoinClaim): string | undefined {
  if (row === undefined) return 'unknown';
  if (row.revoked_at !== null) return 'revoked';
  if (row.expires_at <= now()) return 'expired';
  if (row.role !== claim.role || row.node_id !== claim.nodeId) return 'other-identity';
  return row.used_by === null || row.used_by === claim.usedBy ? undefined : 'used';
}
