import { backoffMs } from '#base/backoff.ts';
import type { Answer } from './answers.ts';
import type { Bounds } from './limits.ts';
import { retryAfterMs } from './retryAfter.ts';
import { BmcUnreachable } from './transport.ts';

const mostTries = 4;
const pause = { firstMs: 1000, maxMs: 15_000 };

/**
 * Asks again, a few times and within the deadline, where a starting or busy BMC refused (503, 429) or the network failed. Waits as long as
 * `Retry-After` says, else with growing pauses.
 * @throws BmcUnreachable of the last try, and at once whatever else `send` fails with
 */
export async function retrying(
  send: () => Promise<Answer>,
  { clock, deadline }: Pick<Bounds, 'clock' | 'deadline'>,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await send().catch(mayBeTriedAgain);
    if (!(answer instanceof BmcUnreachable) && ![503, 429].includes(answer.status)) return answer;
    const waitMs = pauseAfter(answer, tries, clock.now());
    if (tries >= mostTries || clock.now() + waitMs > deadline) return givenUp(answer);
    await clock.sleep(waitMs);
  }
}

/** A network that failed may be better the next time, unless that was tried inside. */
function mayBeTriedAgain(error: unknown): BmcUnreachable {
  if (error instanceof BmcUnreachable && !error.triedEnough) return error;
  throw error;
}

function pauseAfter(answer: Answer | BmcUnreachable, tries: number, nowMs: number): number {
  const asked = answer instanceof BmcUnreachable ? undefined : answer.headers['retry-after'];
  return retryAfterMs(asked, nowMs) ?? backoffMs(tries, pause);
}

function givenUp(last: Answer | BmcUnreachable): Answer {
  if (!(last instanceof BmcUnreachable)) return last;
  last.triedEnough = true;
  throw last;
}
