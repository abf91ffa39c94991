import { backoffMs } from '#base/backoff.ts';
import type { Log } from '#base/log.ts';
import type { AgentPoll, AgentPollAnswer } from '#contract/agentWire.ts';
import { hasCode } from '#contract/errors.ts';
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

/** What could not be taken is not asked for at every poll: the centre would answer each with it at once. */
interface Setbacks {
  count: number;
  /** Milliseconds since the epoch. */
  askAgainAt: number;
}

const none: Setbacks = { count: 0, askAgainAt: 0 };
/** What is not the centre's, or what this agent cannot verify, in milliseconds. */
const refusedPauseMs = 10 * 60_000;
const retryLimits = { firstMs: 1_000, maxMs: 60_000 };

/** A write that failed, as on a full disk, is tried again at once, and then ever more slowly. */
function setback({ count }: Setbacks, error: unknown): Setbacks {
  const retryMs = count === 0 ? 0 : backoffMs(count, retryLimits);
  const pauseMs = hasCode(error, 'FORBIDDEN') ? refusedPauseMs : retryMs;
  return { count: count + 1, askAgainAt: Date.now() + pauseMs };
}

function isAskable({ askAgainAt }: Setbacks): boolean {
  return askAgainAt <= Date.now();
}

export function trustExchange(kept: KeptIdentity, revocations: Revocations, log: Log): TrustExchange {
  const setbacks = { trust: none, revocations: none };
  const attempt = async (what: keyof typeof setbacks, take: () => Promise<void>) => {
    try {
      await take();
      setbacks[what] = none;
      log.info(
        { trustNumber: kept.current.trustNumber, revocations: revocations.current()?.number },
        `new ${what} taken`,
      );
    } catch (error) {
      setbacks[what] = setback(setbacks[what], error);
      log.error({ err: error }, `new ${what} of the centre not taken`);
    }
  };
  return {
    known: () => ({
      // After a join the proof of the list is lacking, which ramdisks with an older image need.
      ...(isAskable(setbacks.trust) && {
        trustNumber: kept.current.trust === undefined ? 0 : kept.current.trustNumber,
      }),
      ...(isAskable(setbacks.revocations) && { revocationsNumber: revocations.number() }),
    }),
    take: async ({ trust, revocations: list }) => {
      if (trust !== undefined) await attempt('trust', () => takeTrust(kept, trust));
      if (list !== undefined) await attempt('revocations', () => revocations.take(list));
    },
  };
}
