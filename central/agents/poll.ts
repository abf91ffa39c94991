import { type AgentPoll, type AgentPollAnswer, protocolVersion } from '#contract/agentWire.ts';
import type { CentralContext } from '../context.ts';
import { allSites, siteTopic } from '../signals.ts';
import { now } from '../store/store.ts';
import { cancelledOperations, markCancelTold, markTaken, waitingOperations } from './operations.ts';
import { currentSiteSpec } from './siteSpec.ts';

/**
 * Answers a site's long poll: at once when its desired state changed, an operation waits for it or one is to be
 * abandoned; else with nothing new after `waitSeconds`, or as soon as `stop` aborts.
 */
export async function answerPoll(
  context: CentralContext,
  siteId: string,
  poll: AgentPoll,
  stop: AbortSignal,
): Promise<AgentPollAnswer> {
  await noteContact(context, siteId, poll);
  await markTaken(context.store, siteId, poll.taken);
  const patience = AbortSignal.any([stop, AbortSignal.timeout(poll.waitSeconds * 1000)]);
  const news = await context.signals.until(
    [siteTopic(siteId), allSites],
    () => findNews(context, siteId, poll.observedGeneration),
    patience,
  );
  const answer = news ?? (await currentAnswer(context, siteId, poll.observedGeneration)).answer;
  if (!stop.aborted) await markCancelTold(context.store, answer.cancelled);
  return answer;
}

async function noteContact(
  { store, signals }: CentralContext,
  siteId: string,
  poll: AgentPoll,
): Promise<void> {
  await store
    .updateTable('sites')
    .set({ seen_at: now(), observed_generation: poll.observedGeneration })
    .where('site_id', '=', siteId)
    .execute();
  signals.notify(siteTopic(siteId));
}

async function findNews(
  context: CentralContext,
  siteId: string,
  observed: number,
): Promise<AgentPollAnswer | undefined> {
  const { answer, freshCancel } = await currentAnswer(context, siteId, observed);
  const isNews = answer.spec !== undefined || answer.operations.length > 0 || freshCancel;
  return isNews ? answer : undefined;
}

async function currentAnswer(
  context: CentralContext,
  siteId: string,
  observed: number,
): Promise<{ answer: AgentPollAnswer; freshCancel: boolean }> {
  const spec = await currentSiteSpec(context, siteId, observed);
  const operations = await waitingOperations(context, siteId);
  const { operationIds: cancelled, fresh } = await cancelledOperations(context.store, siteId);
  const news = spec.generation > observed ? { spec } : {};
  return { answer: { protocol: protocolVersion, ...news, operations, cancelled }, freshCancel: fresh };
}
