import type { Log } from '#base/log.ts';
import type { AgentPoll, AgentPollAnswer } from '#contract/agentWire.ts';
import type { KeptIdentity } from './keptIdentity.ts';
import type { Revocations } from './revocations.ts';
import { takeTrust } from './trust.ts';

/** The part of a poll, whichever agent's, by which it learns the centre's keys and the revoked. */
export interface TrustExchange {
  /** What to say in a poll. */
  known(): Pick<AgentPoll, 'trustNumber' | 'revocationsNumber'>;
  /** To be called before anything else of the answer is used. */
  take(answer: Pick<AgentPollAnswer, 'trust' | 'revocations'>): Promise<void>;
}

export function trustExchange(kept: KeptIdentity, revocations: Revocations, log: Log): TrustExchange {
  /** What could not be taken is not asked for again: the centre would answer every poll with it at once. */
  const refused = { trust: false, revocations: false };
  const attempt = async (what: keyof typeof refused, take: () => Promise<void>) => {
    try {
      await take();
      log.info(
        { trustNumber: kept.current.trustNumber, revocations: revocations.current()?.number },
        `new ${what} taken`,
      );
    } catch (error) {
      refused[what] = true;
      log.error({ err: error }, `new ${what} of the centre not taken`);
    }
  };
  return {
    known: () => ({
      // After a join the proof of the list is lacking, which ramdisks with an older image need.
      ...(!refused.trust && {
        trustNumber: kept.current.trust === undefined ? 0 : kept.current.trustNumber,
      }),
      ...(!refused.revocations && { revocationsNumber: revocations.number() }),
    }),
    take: async ({ trust, revocations: list }) => {
      if (trust !== undefined) await attempt('trust', () => takeTrust(kept, trust));
      if (list !== undefined) await attempt('revocations', () => revocations.take(list));
    },
  };
}
