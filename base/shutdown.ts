/** Something that was started and can be ended. Closing twice is harmless. */
export interface Closable {
  close(): Promise<void> | void;
}

/** Notes a part that was started, so that it is ended with all others, and hands it back. */
export type Keep = <Part extends Closable>(part: Part) => Part;

/** Ends what was started in reverse order, all of it even when one fails; the first failure is thrown at the end. */
export async function closeAll(started: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of started.toReversed()) {
    try {
      await part.close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Resolves with the name of the first SIGINT or SIGTERM. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
}

/** Aborted by the first SIGINT or SIGTERM. Further ones do nothing, so that an impatient operator does not cut the clean-up short. */
export function stopRequest(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  return stop.signal;
}
