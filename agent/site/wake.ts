/**
 * An in-process wake-up: whoever waits for news reads `turn`, looks, and waits for a later turn, so that news between the look
 * and the wait is not lost.
 */
export interface Wake {
  readonly turn: number;
  wake(): void;
  /** Resolves once `turn` is past `since`, or after `milliseconds`, or when `signal` aborts. Never rejects. */
  after(since: number, milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export function createWake(): Wake {
  let turn = 0;
  const waiting = new Set<() => void>();
  return {
    get turn() {
      return turn;
    },
    wake() {
      turn++;
      for (const resume of [...waiting]) resume();
    },
    after(since, milliseconds, signal) {
      if (turn !== since || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const resume = () => {
          clearTimeout(timer);
          waiting.delete(resume);
          signal?.removeEventListener('abort', resume);
          resolve();
        };
        // setTimeout takes 31 bits; waking up early for nothing is harmless.
        const timer = setTimeout(resume, Math.min(milliseconds, 2 ** 31 - 1));
        signal?.addEventListener('abort', resume, { once: true });
        waiting.add(resume);
      });
    },
  };
}
