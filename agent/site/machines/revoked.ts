import type { TLSSocket } from 'node:tls';
import { RailheadError } from '#contract/errors.ts';
import { type Revocations, refuseRevoked } from '../../join/revocations.ts';
import type { SiteState } from '../store/state.ts';
import type { Wake } from '../wake.ts';
import type { MachineParts } from './parts.ts';

/** @throws RailheadError FORBIDDEN (`revoked`) when this site, or the certificate that the peer shows, was revoked */
export function refuseRevokedPeer(
  socket: TLSSocket,
  { kept, revocations }: Pick<MachineParts, 'kept' | 'revocations'>,
): void {
  if (kept.current.revoked !== undefined)
    throw new RailheadError('FORBIDDEN', 'this site was revoked: it lets no machine in', {
      reason: 'revoked',
    });
  const serial = socket.getPeerX509Certificate()?.serialNumber;
  if (serial !== undefined)
    refuseRevoked(revocations, 'certificate', serial.toLowerCase().replace(/^0+/, ''));
}

/** Ends the sessions of machines whose keys a new list names. */
export function endRevokedSessions(
  revocations: Revocations,
  { sessions }: Pick<SiteState, 'sessions'>,
  machines: Wake,
): void {
  for (const { kind, subject, identity } of revocations.current()?.revoked ?? []) {
    const nodeId = identity.split(':').at(-1) ?? '';
    if (kind !== 'machine-key' || sessions.byNode(nodeId)?.signingKey.x !== subject) continue;
    sessions.end(nodeId);
    machines.wake();
  }
}
