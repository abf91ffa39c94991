import { type ErrorCode, RailheadError } from '#contract/errors.ts';
import type { RamdiskJoin } from '#contract/join.ts';
import type { BootToken } from '../store/bootTokens.ts';
import { isSigned } from './signed.ts';

/** What to do with a join message. */
export type ClaimDecision =
  | { kind: 'accept'; token: BootToken }
  | { kind: 'refuse'; code: ErrorCode; reason: string; message: string }
  /** Two machines hold one token: both are turned away, and an operator is told. */
  | { kind: 'contest'; token: BootToken };

/**
 * Who may join with a boot token: the first that shows it, and that same agent again (its keys tell). `claimedBy` is the
 * claimant's thumbprint, `entryId` the boot entry that the token's MAC has now.
 */
export function decideClaim(
  token: BootToken | undefined,
  claim: { mac: string; claimedBy: string; entryId: string | undefined; now: number },
): ClaimDecision {
  if (token === undefined)
    return refuse('UNAUTHENTICATED', 'unknown-token', 'the boot token is not known here: boot again');
  if (token.mac !== claim.mac)
    return refuse('FORBIDDEN', 'other-mac', 'the boot token was given to another interface');
  if (token.entryId !== claim.entryId)
    return refuse('UNAUTHENTICATED', 'no-entry', 'the boot entry of this token is gone: boot again');
  if (token.expiresAt <= claim.now)
    return refuse('UNAUTHENTICATED', 'expired', 'the boot token has expired: boot again');
  if (token.contested) return refuse('FORBIDDEN', 'contested', 'two machines have claimed this boot token');
  return token.claimedBy === undefined || token.claimedBy === claim.claimedBy
    ? { kind: 'accept', token }
    : { kind: 'contest', token };
}

function refuse(code: ErrorCode, reason: string, message: string): ClaimDecision {
  return { kind: 'refuse', code, reason, message };
}

/** @throws RailheadError UNAUTHENTICATED unless the message is signed by the key that it names */
export async function checkProof(message: RamdiskJoin): Promise<void> {
  const { proof, ...claimed } = message;
  if (await isSigned('railhead-ramdisk-join', claimed, proof, message.signingKey)) return;
  throw new RailheadError('UNAUTHENTICATED', 'the join message is not signed by the key that it names', {
    path: 'proof',
    reason: 'proof',
  });
}
