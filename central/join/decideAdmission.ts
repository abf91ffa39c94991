import type { SealingJwk } from '#contract/join.ts';
import { parseJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

export type AdmissionDecision =
  | { kind: 'join' }
  /** The same join once more: its answer was lost. The books stay as they are. */
  | { kind: 'repeat' }
  | { kind: 'refuse'; reason: 'used' | 'revoked' };

/** Who asks: the key for its certificates (SPKI, PEM), and the one that is sealed to. */
export interface AgentKeys {
  publicKey: string;
  sealingKey: SealingJwk | undefined;
}

/**
 * What to do with a join whose token holds. A token that this key has used already repeats its own join only, as long as nothing has come
 * of it since: no renewal, no later join, no revocation. Otherwise it would undo those. A revoked key does not come back by a new token.
 */
export function decideAdmission(
  agent: Row<'agents'> | undefined,
  { publicKey, sealingKey }: AgentKeys,
  token: { isUsed: boolean; usedAt: string | null },
): AdmissionDecision {
  const isSameKey = agent?.public_key === publicKey;
  if (isSameKey && agent.revoked_at !== null) return { kind: 'refuse', reason: 'revoked' };
  if (!token.isUsed) return { kind: 'join' };
  const isSameJoin =
    isSameKey &&
    agent.counter === 0 &&
    agent.joined_at === token.usedAt &&
    parseJson<SealingJwk>(agent.sealing_key)?.x === sealingKey?.x;
  return isSameJoin ? { kind: 'repeat' } : { kind: 'refuse', reason: 'used' };
}
