/** The longest time that a timer can be set for at once (2^31 - 1 ms, about 24 days). */
const longestTimerMs = 2_147_483_647;

/** Aborts with `reason` at `deadline` (ISO 8601). Deadlines beyond 24 days are cut to that. */
export function timeoutSignal(deadline: string, reason: Error): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), timeLeft(deadline)).unref();
  return controller.signal;
}

/**
 * Resolves at `time` (ISO 8601; null is at once).
 * @throws the reason of `stop` when that aborts first
 */
export function until(time: string | null, stop: AbortSignal): Promise<void> {
  stop.throwIfAborted();
  if (time === null || timeLeft(time) === 0) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeLeft(time));
  const abandon = () => reject(stop.reason);
  stop.addEventListener('abort', abandon, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    stop.removeEventListener('abort', abandon);
  });
}

function timeLeft(time: string): number {
  return Math.min(Math.max(Date.parse(time) - Date.now(), 0), longestTimerMs);
}
