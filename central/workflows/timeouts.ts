/** The longest time that a timer can be set for at once: 2^31 - 1 ms, about 24.8 days. */
const longestTimerMs = 2_147_483_647;

/** Aborts with `reason` at `deadline` (ISO 8601), however far off that is. */
export function timeoutSignal(deadline: string, reason: Error): AbortSignal {
  const controller = new AbortController();
  callAt(Date.parse(deadline), () => controller.abort(reason));
  return controller.signal;
}

/**
 * Resolves at `time` (ISO 8601; null is at once).
 * @throws the reason of `stop` when that aborts first
 */
export function until(time: string | null, stop: AbortSignal): Promise<void> {
  stop.throwIfAborted();
  if (time === null) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const callOff = callAt(Date.parse(time), resolve);
  const abandon = () => reject(stop.reason);
  stop.addEventListener('abort', abandon, { once: true });
  return promise.finally(() => {
    callOff();
    stop.removeEventListener('abort', abandon);
  });
}

/** Calls `act` at `time` (milliseconds since the epoch), at once when that is past. What it returns calls it off. */
function callAt(time: number, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const left = time - Date.now();
    if (left <= 0) return act();
    timer = setTimeout(look, Math.min(left, longestTimerMs)).unref();
  };
  look();
  return () => clearTimeout(timer);
}
