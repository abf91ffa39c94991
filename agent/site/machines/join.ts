import { protocolVersion } from '#contract/agentWire.ts';
import { type ErrorCode, RailheadError } from '#contract/errors.ts';
import { RamdiskJoin, type RamdiskJoinAnswer } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import { unknown } from '../operations/outcome.ts';
import type { BootToken } from '../store/bootTokens.ts';
import type { Session } from '../store/sessions.ts';
import { checkProof, decideClaim, thumbprint } from './claim.ts';
import type { MachineParts } from './parts.ts';

/**
 * `POST /v1/join`: lets a machine in on its boot token. An agent that is started again in the same boot gets a new session and keeps
 * its operations; a machine that has restarted loses those that it had begun.
 * @throws RailheadError UNAUTHENTICATED, FORBIDDEN, INVALID_INPUT
 */
export async function joinMachine(
  body: unknown,
  peer: string,
  parts: MachineParts,
): Promise<RamdiskJoinAnswer> {
  const message = validate(RamdiskJoin, body);
  await checkProof(message);
  const { state, imagesUrl, siteId } = parts;
  const claimedBy = thumbprint(message);
  const token = state.tokens.find(message.token);
  const entryId = state.entries.byMac(message.mac, Date.now())?.entryId;
  const decision = decideClaim(token, { mac: message.mac, claimedBy, entryId, now: Date.now() });
  if (decision.kind === 'refuse') throw refusal(decision.code, decision.message, decision.reason);
  if (token === undefined || decision.kind === 'contest') throw contest(token, peer, parts);
  if (token.address !== peer)
    parts.log.warn(
      { mac: token.mac, expected: token.address, found: peer },
      'a machine joins from another address',
    );
  const session = admit(message, token, claimedBy, parts);
  parts.log.info({ nodeId: token.nodeId, mac: token.mac, bootId: token.bootId, peer }, 'machine joined');
  return { protocol: protocolVersion, siteId, nodeId: token.nodeId, session, imagesUrl };
}

function admit(message: RamdiskJoin, token: BootToken, claimedBy: string, parts: MachineParts): string {
  const { state, presence, news } = parts;
  const { nodeId, mac } = token;
  const bearer = state.atomically(() => {
    const former = state.sessions.byNode(nodeId);
    if (former !== undefined && former.claimedBy !== claimedBy) endInterrupted(former, parts);
    state.tokens.claim(mac, claimedBy);
    state.events.add({
      type: 'agent.joined',
      role: 'ramdisk',
      trust: 'network',
      join: message,
      nodeId,
      mac,
      bootId: token.bootId,
    });
    const { bootId, signingKey } = message;
    return state.sessions.open({ nodeId, mac, bootId, signingKey, claimedBy, joinedAt: Date.now() });
  });
  presence.seen(nodeId);
  news.wake();
  return bearer;
}

/** The machine has restarted: nobody is left who could say what became of the operations that it had begun. */
function endInterrupted({ nodeId, bootId }: Session, { state }: MachineParts): void {
  for (const { operation, startedAt } of state.journal.open('ramdisk', nodeId)) {
    if (startedAt === undefined) continue;
    const details = { reason: 'machine-restarted', bootId };
    const error = new RailheadError('INVALID_STATE', 'the machine restarted in the middle of it', details);
    state.journal.finish(unknown(operation.operationId, error));
  }
}

function contest(
  token: BootToken | undefined,
  peer: string,
  { state, log, news }: MachineParts,
): RailheadError {
  if (token !== undefined) {
    const { nodeId, mac, bootId } = token;
    const text = `a second claimant, ${peer}, showed the boot token of ${mac}; both are refused until the machine boots again`;
    state.atomically(() => {
      state.tokens.contest(mac);
      state.sessions.end(nodeId);
      state.events.add({ type: 'machine.alarm', text, nodeId, mac, bootId });
    });
    log.error({ nodeId, mac, peer }, text);
    news.wake();
  }
  return refusal('FORBIDDEN', 'another machine has joined with this boot token', 'contested');
}

function refusal(code: ErrorCode, message: string, reason: string): RailheadError {
  return new RailheadError(code, message, { path: 'token', reason });
}
