import { type AgentPoll, type AgentPollAnswer, protocolVersion } from '#contract/agentWire.ts';
import type { CentralContext } from '../context.ts';
import { noteTrust, trustNews } from '../join/trustNews.ts';
import { allSites, nodeTopic, siteTopic } from '../signals.ts';
import type { Contacts } from './contacts.ts';
import type { Patience } from './heldPolls.ts';
import { type AgentIdentity, type PresentedIdentity, requireStanding } from './identity.ts';
import { noteNodeBoot } from './nodeBoots.ts';
import { currentNodeSpec } from './nodeSpec.ts';
import { markNoticesTold, markTaken, operationNotices, waitingOperations } from './operations.ts';

/**
 * Answers an agent's long poll: at once when its desired state changed, an operation waits for it, one is to be
 * abandoned or was confirmed, the centre's keys or the list of the revoked changed; else with nothing new as soon as `patience` ends. A site gets what is
 * for its ramdisks too; the agent of an installed OS asks for its own.
 * @throws RailheadError UNAUTHENTICATED (`revoked`) as soon as the agent is revoked
 */
export async function answerPoll(
  context: CentralContext,
  contacts: Contacts,
  agent: PresentedIdentity,
  poll: AgentPoll,
  patience: Patience,
): Promise<AgentPollAnswer> {
  await noteContact(context, contacts, agent, poll);
  await noteTrust(context.store, agent, poll.trustNumber);
  let latest: AgentPollAnswer | undefined;
  const news = await context.signals.until(
    [ownTopic(agent), allSites],
    async () => {
      const found = await look(context, agent, poll);
      latest = found.answer;
      return found.isNews ? found.answer : undefined;
    },
    patience.signal,
  );
  // What changed since the last look would have woken it: with ten thousand polls a second look each counts.
  const answer = news ?? latest ?? (await look(context, agent, poll)).answer;
  if (!patience.isGone()) await markNoticesTold(context.store, answer);
  return answer;
}

function ownTopic({ role, id }: AgentIdentity): string {
  return role === 'site' ? siteTopic(id) : nodeTopic(id);
}

async function noteContact(
  context: CentralContext,
  contacts: Contacts,
  agent: AgentIdentity,
  poll: AgentPoll,
): Promise<void> {
  const { store, signals } = context;
  await contacts.note(agent, poll.observedGeneration);
  await markTaken(store, agent, poll.taken);
  if (agent.role === 'node' && poll.bootId !== undefined) await noteNodeBoot(context, agent.id, poll.bootId);
  signals.notify(ownTopic(agent));
}

/** What there is to say now, and whether the agent has not heard it yet. */
async function look(
  context: CentralContext,
  agent: PresentedIdentity,
  poll: AgentPoll,
): Promise<{ answer: AgentPollAnswer; isNews: boolean }> {
  await requireStanding(context.store, agent);
  const { answer, fresh } = await currentAnswer(context, agent, poll.observedGeneration);
  const trust = await trustNews(context, poll);
  const isNews = answer.spec !== undefined || answer.operations.length > 0 || fresh;
  return { answer: { ...answer, ...trust }, isNews: isNews || Object.keys(trust).length > 0 };
}

async function currentAnswer(
  context: CentralContext,
  agent: AgentIdentity,
  observed: number,
): Promise<{ answer: AgentPollAnswer; fresh: boolean }> {
  // Before the spec: what an operation needs is desired before it is queued, so the spec beside it has that.
  const operations = await waitingOperations(context, agent);
  const spec = await currentNodeSpec(context, agent, observed);
  const news = spec.generation > observed ? { spec } : {};
  const { cancelled, confirmed, fresh } = await operationNotices(context.store, agent);
  const notices = { cancelled, ...(confirmed.length > 0 && { confirmed }) };
  return { answer: { protocol: protocolVersion, ...news, operations, ...notices }, fresh };
}
