import type { AgentPoll, AgentPollAnswer } from '#contract/agentWire.ts';
import { type AgentIdentity, identityUri } from '../agents/identity.ts';
import type { CentralContext } from '../context.ts';
import type { Queries } from '../store/store.ts';
import { revocationsNumber, signedRevocations } from './revocationList.ts';
import { signedTrust } from './trust.ts';

/** The centre's keys and the list of the revoked, each when the agent says that it has an older one. */
export async function trustNews(
  context: CentralContext,
  { trustNumber, revocationsNumber: revocations }: Pick<AgentPoll, 'trustNumber' | 'revocationsNumber'>,
): Promise<Pick<AgentPollAnswer, 'trust' | 'revocations'>> {
  const { keys, store } = context;
  const isBehind = revocations !== undefined && revocations < (await revocationsNumber(store));
  return {
    ...(trustNumber !== undefined && trustNumber < keys.number && { trust: await signedTrust(keys) }),
    ...(isBehind && { revocations: await signedRevocations(context) }),
  };
}

/** Notes which of the centre's keys an agent knows: an older one is not retired before all know the newest. */
export async function noteTrust(
  store: Queries,
  agent: AgentIdentity,
  trustNumber: number | undefined,
): Promise<void> {
  // 0 asks for the list once more; it does not say that the agent knows none.
  if (trustNumber === undefined || trustNumber === 0) return;
  await store
    .updateTable('agents')
    .set({ trust_number: trustNumber })
    .where('identity', '=', identityUri(agent))
    .where('trust_number', '<>', trustNumber)
    .execute();
}
