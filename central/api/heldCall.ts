import type { CentralContext } from '../context.ts';
import { tokensTopic } from '../signals.ts';
import { type Caller, requireGood } from './tokens.ts';

/** More than any call waits; a timer holds no more than 24 days. */
const longestMs = 3_600_000;

/**
 * Carries out a call that may wait: the wait ends, and nothing is told, as soon as the caller's token ends or is revoked.
 * @throws RailheadError UNAUTHENTICATED then
 */
export async function whileGood<Answer>(
  { store, signals }: Pick<CentralContext, 'store' | 'signals'>,
  { tokenId, expiresAt }: Caller,
  stop: AbortSignal,
  work: (stop: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const over = new AbortController();
  const end = AbortSignal.timeout(Math.min(longestMs, Math.max(0, Date.parse(expiresAt) - Date.now())));
  const check = () => requireGood(store, tokenId).then(() => undefined);
  const watch = signals
    .until([tokensTopic], check, AbortSignal.any([over.signal, end]))
    .catch(() => undefined)
    .finally(() => over.abort());
  try {
    const answer = await work(AbortSignal.any([stop, over.signal]));
    await requireGood(store, tokenId);
    return answer;
  } finally {
    over.abort();
    await watch;
  }
}
