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

/**
 * Uses up a join token for `role` and `nodeId`. `usedBy` names the claimant's key: a repeated request by the same key,
 * whose first answer was lost, is let in again.
 * @throws RailheadError UNAUTHENTICATED; its details say why: `unknown`, `expired`, `used`, `revoked`, `other-identity`
 */
export async function useJoinToken(
  store: Queries,
  token: string,
  claim: { role: 'site' | 'node'; nodeId: string; usedBy: string },
): Promise<Row<'join_tokens'>> {
  const row = await store
    .selectFrom('join_tokens')
    .selectAll()
    .where('hash', '=', tokenHash(token))
    .executeTakeFirst();
  const reason = refusal(row, claim);
  if (row === undefined || reason !== undefined)
    throw new RailheadError('UNAUTHENTICATED', 'the join token is not accepted: ask for a new one', {
      reason: reason ?? 'unknown',
    });
  if (row.used_at !== null) return row;
  const used = { used_at: now(), used_by: claim.usedBy };
  await store.updateTable('join_tokens').set(used).where('token_id', '=', row.token_id).execute();
  return { ...row, ...used };
}

function refusal(
  row: Row<'join_tokens'> | undefined,
  claim: { role: string; nodeId: string; usedBy: string },
): string | undefined {
  if (row === undefined) return 'unknown';
  if (row.revoked_at !== null) return 'revoked';
  if (row.expires_at <= now()) return 'expired';
  if (row.role !== claim.role || row.node_id !== claim.nodeId) return 'other-identity';
  return row.used_at !== null && row.used_by !== claim.usedBy ? 'used' : undefined;
}
