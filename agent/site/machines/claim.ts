import { type ErrorCode, RailheadError } from '#contract/errors.ts';
import type { RamdiskJoin } from '#contract/join.ts';
import type { BootToken } from '../store/bootTokens.ts';
import { isSigned } from './signed.ts';

/** What to do with a join message. */
export type ClaimDecision =
  | { kind: 'accept'; token: BootToken }
  | { kind: 'refuse'; code: ErrorCode; reason: string; message: string }
  /** Two machines hold one token: both are turned away, and an operator is told. */
  | { kind: 'contest'; token: BootToken }
  /** The token is good, but its holder is not at the machine's address: somebody has read it on the way. */
  | { kind: 'other-host'; token: BootToken };

export interface TokenClaim {
  mac: string;
  /** The claimant's thumbprint. */
  claimedBy: string;
  /** The boot entry that the MAC has now. */
  entryId: string | undefined;
  /** The MAC that the claimant's address is leased to. */
  leasedTo: string | undefined;
  now: number;
}

/**
 * Who may join with a boot token: the first that shows it from the address of the token's MAC, and that same agent again (its keys
 * tell). A second claimant is one from wherever it comes: a token that two know has been read by somebody.
 */
export function decideClaim(token: BootToken | undefined, claim: TokenClaim): ClaimDecision {
  if (token === undefined)
    return refuse('UNAUTHENTICATED', 'unknown-token', 'the boot token is not known here: boot again');
  if (token.mac !== claim.mac)
    return refuse('FORBIDDEN', 'other-mac', 'the boot token was given to another interface');
  if (token.entryId !== claim.entryId)
    return refuse('UNAUTHENTICATED', 'no-entry', 'the boot entry of this token is gone: boot again');
  if (token.expiresAt <= claim.now)
    return refuse('UNAUTHENTICATED', 'expired', 'the boot token has expired: boot again');
  if (token.contested) return refuse('FORBIDDEN', 'contested', 'two machines have claimed this boot token');
  if (token.claimedBy !== undefined && token.claimedBy !== claim.claimedBy) return { kind: 'contest', token };
  return { kind: claim.leasedTo === token.mac ? 'accept' : 'other-host', token };
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
