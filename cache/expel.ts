import type { Log } from '#base/log.ts';
import type { CacheParts } from './rows.ts';
import type { Senders } from './senders.ts';
import { withdrawnError } from './withdrawn.ts';

type Expelling = CacheParts & { senders: Senders; log: Log };

/** The digests that are withdrawn and of which something is here: held, still to be hashed, or on its way. */
export function withdrawnHere({ wishes, store, puller }: CacheParts): string[] {
  const here = [
    ...store.held().map((held) => held.digest),
    ...store.unproven.keys(),
    ...puller.images().keys(),
  ];
  return [...new Set(here)].filter((digest) => wishes.isWithdrawn(digest));
}

/** Ends the pull and every transfer of a withdrawn image, and removes its bytes. What cannot be removed is said, and not served. */
export async function expel(digest: string, { store, puller, senders, log }: Expelling): Promise<void> {
  senders.cutOff(digest, withdrawnError(digest));
  try {
    await puller.stop(digest);
    await store.expel(digest);
    log.warn({ digest }, 'a withdrawn image was removed');
  } catch (error) {
    log.error({ digest, err: error }, 'a withdrawn image cannot be removed; it is not served all the same');
  }
}
