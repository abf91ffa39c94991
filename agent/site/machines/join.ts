import { protocolVersion } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import { machineThumbprint, RamdiskJoin, type RamdiskJoinAnswer } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import { refuseRevoked } from '../../join/revocations.ts';
import { unknown } from '../operations/outcome.ts';
import type { BootToken } from '../store/bootTokens.ts';
import type { Session } from '../store/sessions.ts';
import { contest, refuseOtherHost } from './alarms.ts';
import { checkProof, decideClaim } from './claim.ts';
import { noteMachine } from './note.ts';
import type { MachineParts } from './parts.ts';

/**
 * How long the machine that joined before has for a word, in milliseconds: a ramdisk that runs speaks at once when asked, but
 * after a restart of this agent only once it has tried to connect again.
 */
const answerMs = 5_000;
const reconnectMs = 16_000;

/**
 * `POST /v1/join`: lets a machine in on its boot token, from the address that is leased to it. An agent that is started again in the same boot gets a new session and keeps
 * its operations; a machine that has restarted loses those that it had begun. Where another agent has joined for the node before,
 * that one is asked first: if it still answers, there are two claimants.
 * @throws RailheadError UNAUTHENTICATED, FORBIDDEN, INVALID_INPUT
 */
export async function joinMachine(
  body: unknown,
  { peer, reachedAt }: Connection,
  parts: MachineParts,
): Promise<RamdiskJoinAnswer> {
  const message = validateMessage(RamdiskJoin, body);
  await checkProof(message);
  const claim = { message, claimedBy: machineThumbprint(message), peer };
  const asked = claimedToken(claim, parts);
  if (await formerAnswers(asked.nodeId, claim.claimedBy, parts))
    throw contest(
      asked,
      `${peer} joined as ${asked.mac} while the machine that joined before still answers`,
      parts,
    );
  // Asked again: another claimant, or a revocation, may have come meanwhile.
  const token = claimedToken(claim, parts);
  const entry = parts.state.entries.signed(token.entryId) ?? '';
  const session = admit({ message, token, claimedBy: claim.claimedBy, entry }, parts);
  parts.log.info({ nodeId: token.nodeId, mac: token.mac, bootId: token.bootId, peer }, 'machine joined');
  const { siteId, imagesUrlAt } = parts;
  const { trust } = parts.kept.current;
  return {
    protocol: protocolVersion,
    siteId,
    nodeId: token.nodeId,
    entry,
    session,
    imagesUrl: imagesUrlAt(reachedAt),
    ...(trust !== undefined && { trust }),
  };
}

/** Where a machine's connection comes from, and which address of ours it is to. */
interface Connection {
  peer: string;
  reachedAt: string | undefined;
}

interface Claim {
  message: RamdiskJoin;
  claimedBy: string;
  peer: string;
}

/** @throws RailheadError when the message's token lets it not in, or its key was revoked */
function claimedToken({ message, claimedBy, peer }: Claim, parts: MachineParts): BootToken {
  const { state } = parts;
  const { mac } = message;
  refuseRevoked(parts.revocations, 'machine-key', message.signingKey.x);
  const now = Date.now();
  const token = state.tokens.find(message.token);
  const decision = decideClaim(token, {
    mac,
    claimedBy,
    entryId: state.entries.byMac(mac, now)?.entryId,
    leasedTo: parts.leasedTo(peer),
    now,
  });
  if (decision.kind === 'accept') return decision.token;
  if (decision.kind === 'other-host') throw refuseOtherHost(decision.token, peer, parts);
  if (decision.kind === 'contest')
    throw contest(decision.token, `a second claimant, ${peer}, showed the boot token of ${mac}`, parts);
  const { code, reason, message: why } = decision;
  noteMachine(peer, `join refused: ${why}`, { step: 'join-refused', reason }, parts);
  throw new RailheadError(code, why, { path: 'token', reason });
}

/** A machine that was reset has fallen silent; one that works on must not lose its place to whoever knows its MAC. */
async function formerAnswers(
  nodeId: string,
  claimedBy: string,
  { state, presence }: MachineParts,
): Promise<boolean> {
  const strangers = () => {
    const holder = state.sessions.byNode(nodeId)?.claimedBy;
    return holder === claimedBy ? undefined : holder;
  };
  const former = strangers();
  if (former === undefined) return false;
  if (await presence.answers(nodeId, presence.heard(nodeId) ? answerMs : reconnectMs)) return true;
  const present = strangers();
  return present !== undefined && present !== former;
}

interface Admission {
  message: RamdiskJoin;
  token: BootToken;
  claimedBy: string;
  /** The signed boot entry. */
  entry: string;
}

function admit({ message, token, claimedBy, entry }: Admission, parts: MachineParts): string {
  const { state, presence, news, machines } = parts;
  const { nodeId, mac } = token;
  const bearer = state.atomically(() => {
    const former = state.sessions.byNode(nodeId);
    if (former !== undefined && former.claimedBy !== claimedBy) endInterrupted(former, parts);
    state.tokens.claim(mac, claimedBy);
    state.events.add({
      type: 'agent.joined',
      role: 'ramdisk',
      trust: message.trust,
      join: message,
      entry,
      nodeId,
      mac,
      bootId: token.bootId,
    });
    const { bootId, signingKey } = message;
    return state.sessions.open({ nodeId, mac, bootId, signingKey, claimedBy, joinedAt: Date.now() });
  });
  presence.seen(nodeId);
  machines.wake();
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
