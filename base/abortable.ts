/**
 * Waits for `promise`, but no longer than until `signal` is aborted; then rejects with its reason. What was
 * begun goes on.
 */
export function abortable<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
