import type { ErrorCode } from '#contract/errors.ts';
import { type Renewal, renewalGraceMs } from '#contract/join.ts';
import type { Row } from '../store/tables.ts';

/** How far an agent's clock may be off: a proof that is older is somebody's who has found it. */
const proofValidMs = 15 * 60_000;
/** How many renewals books that were restored can be behind; a counter at the end of its range would be its last. */
const mostAhead = 1000;

export type RenewalDecision =
  | { kind: 'renew' }
  /** The same request once more: its answer was lost, or never written down. */
  | { kind: 'repeat' }
  /** The counter was used already, by someone else who holds the same key: the agent's disk was copied. */
  | { kind: 'copied' }
  | { kind: 'refuse'; code: ErrorCode; reason: string; message: string };

/**
 * What to do with a renewal whose signature by the agent's key holds. A counter that is ahead is taken as it is: then these books
 * were restored from a backup. A proof of another time is worth nothing, so that nobody can have an agent revoked by an old one. `expiresAt` is when the agent's newest certificate ends.
 */
export function decideRenewal(
  agent: Pick<Row<'agents'>, 'counter' | 'renewal' | 'revoked_at'>,
  { counter, nonce, at }: Pick<Renewal, 'counter' | 'nonce' | 'at'>,
  { expiresAt, now }: { expiresAt: number; now: number },
): RenewalDecision {
  if (agent.revoked_at !== null)
    return refuse('revoked', 'this agent was revoked: join again with a new token');
  if (expiresAt + renewalGraceMs <= now)
    return refuse('expired', 'the certificate ended too long ago: join again with a new token');
  if (!(Math.abs(Date.parse(at) - now) <= proofValidMs))
    return refuse('clock', `the renewal was signed at ${at}, here it is ${new Date(now).toISOString()}`);
  if (counter === agent.counter && nonce === agent.renewal) return { kind: 'repeat' };
  if (counter <= agent.counter) return { kind: 'copied' };
  if (counter > agent.counter + mostAhead)
    return refuse('proof', `renewal ${counter} comes after ${agent.counter}: join again with a new token`);
  return { kind: 'renew' };
}

function refuse(reason: string, message: string): RenewalDecision {
  return { kind: 'refuse', code: 'UNAUTHENTICATED', reason, message };
}
