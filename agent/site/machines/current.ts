import { RailheadError } from '#contract/errors.ts';
import type { Session } from '../store/sessions.ts';
import type { MachineParts } from './parts.ts';

/**
 * Nothing more is told to, or taken from, a machine whose place another has taken meanwhile.
 * @throws RailheadError UNAUTHENTICATED
 */
export function checkCurrent({ nodeId, claimedBy }: Session, { state }: Pick<MachineParts, 'state'>): void {
  if (state.sessions.byNode(nodeId)?.claimedBy === claimedBy) return;
  throw new RailheadError('UNAUTHENTICATED', 'the session has ended: join again', { reason: 'no-session' });
}
