import { RailheadError } from '#contract/errors.ts';
import type { ActionContext } from './action.ts';

/** What timers can wait, in milliseconds. */
const longestMs = 2 ** 31 - 1;

/**
 * Waits until the cache holds an image, but no longer than the operation may take: what the centre has given up is not done later, and the
 * node's next operation waits for no pull.
 * @throws RailheadError UNAVAILABLE (`image-late`), or what the cache failed to have the image with
 */
export async function inCache(
  digest: string,
  { cache, signal, deadline }: Pick<ActionContext, 'cache' | 'signal' | 'deadline'>,
): Promise<void> {
  const late = AbortSignal.timeout(Math.min(longestMs, Math.max(0, deadline - Date.now())));
  try {
    await cache.ready(digest, AbortSignal.any([signal, late]));
  } catch (error) {
    throw late.aborted && !signal.aborted ? imageLate(digest) : error;
  }
  signal.throwIfAborted();
}

function imageLate(digest: string): RailheadError {
  const message = `the site has not pulled ${digest} in time: give the step more time, or prewarm the image`;
  return new RailheadError('UNAVAILABLE', message, { reason: 'image-late', digest });
}
