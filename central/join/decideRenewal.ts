import type { ErrorCode } from '#contract/errors.ts';
import type { Renewal } from '#contract/join.ts';
import type { Row } from '../store/tables.ts';
import { renewalGraceMs } from './lifetimes.ts';

export type RenewalDecision =
  | { kind: 'renew' }
  /** The same request once more: its answer was lost, or never written down. */
  | { kind: 'repeat' }
  /** The counter was used already, by someone else who holds the same key: the agent's disk was copied. */
  | { kind: 'copied' }
  | { kind: 'refuse'; code: ErrorCode; reason: string; message: string };

/**
 * What to do with a renewal whose signature by the agent's key holds. A counter that is ahead is taken as it is: then these books
 * were restored from a backup. `expiresAt` is when the agent's newest certificate ends.
 */
export function decideRenewal(
  agent: Pick<Row<'agents'>, 'counter' | 'renewal' | 'revoked_at'>,
  { counter, nonce }: Pick<Renewal, 'counter' | 'nonce'>,
  { expiresAt, now }: { expiresAt: number; now: number },
): RenewalDecision {
  if (agent.revoked_at !== null)
    return refuse('revoked', 'this agent was revoked: join again with a new token');
  if (counter === agent.counter && nonce === agent.renewal) return { kind: 'repeat' };
  if (counter <= agent.counter) return { kind: 'copied' };
  if (expiresAt + renewalGraceMs <= now)
    return refuse('expired', 'the certificate ended too long ago: join again with a new token');
  return { kind: 'renew' };
}

function refuse(reason: string, message: string): RenewalDecision {
  return { kind: 'refuse', code: 'UNAUTHENTICATED', reason, message };
}
