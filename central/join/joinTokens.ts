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

/** Who wants in, and by which key: a repeated request by the same key, whose first answer was lost, is let in again. */
export interface JoinClaim {
  role: 'site' | 'node';
  nodeId: string;
  usedBy: string;
}

/**
 * Uses up a join token.
 * @throws RailheadError UNAUTHENTICATED; its details say why: `unknown`, `expired`, `used`, `revoked`, `other-identity`
 */
export async function useJoinToken(
  store: Queries,
  token: string,
  claim: JoinClaim,
): Promise<Row<'join_tokens'>> {
  const hash = tokenHash(token);
  // The check and the use are one statement: of two claimants at once, one is let in.
  const used = await store
    .updateTable('join_tokens')
    .set((column) => ({
      used_at: column.fn.coalesce('used_at', column.val(now())),
      used_by: claim.usedBy,
    }))
    .where('hash', '=', hash)
    .where('role', '=', claim.role)
    .where('node_id', '=', claim.nodeId)
    .where('expires_at', '>', now())
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('used_by', 'is', null), where('used_by', '=', claim.usedBy)]))
    .returningAll()
    .executeTakeFirst();
  if (used !== undefined) return used;
  throw new RailheadError('UNAUTHENTICATED', 'the join token is not accepted: ask for a new one', {
    reason: await refusalReason(store, hash, claim),
  });
}

async function refusalReason(store: Queries, hash: string, claim: JoinClaim): Promise<string> {
  const row = await store.selectFrom('join_tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
  if (row === undefined) return 'unknown';
  if (row.revoked_at !== null) return 'revoked';
  if (row.expires_at <= now()) return 'expired';
  return row.role !== claim.role || row.node_id !== claim.nodeId ? 'other-identity' : 'used';
}
