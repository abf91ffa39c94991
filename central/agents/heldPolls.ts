import type { FastifyReply } from 'fastify';

/** How long one poll may wait: until its time is over, its agent hangs up, or the centre stops. */
export interface Patience {
  signal: AbortSignal;
  /** Whether nobody will get the answer: it ended otherwise than by time. */
  isGone(): boolean;
}

/** The long polls that are held. */
export interface HeldPolls {
  hold<Answer>(
    reply: FastifyReply,
    waitMs: number,
    answer: (patience: Patience) => Promise<Answer>,
  ): Promise<Answer>;
}

/**
 * Each held poll has one controller and one timer. Signals that are made of signals (`AbortSignal.any`, `AbortSignal.timeout`) take several
 * KiB each, which counts where ten thousand polls are held. `stop` ends them all.
 */
export function createHeldPolls(stop: AbortSignal): HeldPolls {
  const held = new Set<() => void>();
  stop.addEventListener('abort', () => {
    for (const giveUp of held) giveUp();
  });
  return {
    hold: async (reply, waitMs, answer) => {
      const control = new AbortController();
      let gone = stop.aborted;
      const giveUp = () => {
        gone = true;
        control.abort();
      };
      if (gone) control.abort();
      held.add(giveUp);
      reply.raw.once('close', giveUp);
      const timer = setTimeout(() => control.abort(), waitMs);
      try {
        return await answer({ signal: control.signal, isGone: () => gone });
      } finally {
        clearTimeout(timer);
        held.delete(giveUp);
        reply.raw.off('close', giveUp);
      }
    },
  };
}
