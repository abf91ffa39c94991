import type { Writable } from 'node:stream';
import type { Held } from './read.ts';
import { withdrawnError } from './withdrawn.ts';

/** Who is being sent which artifact now? So that what was withdrawn in the middle of a transfer does not arrive whole. */
export class Senders {
  readonly #targets = new Map<string, Set<Writable>>();

  /** The same artifact, whose transfers `cutOff` ends; none begins after it was withdrawn, though it was opened before. */
  watched(digest: string, held: Held, isWithdrawn: () => boolean): Held {
    return {
      ...held,
      sendTo: async (target, start, endExclusive) => {
        if (isWithdrawn()) throw withdrawnError(digest);
        const targets = this.#targets.get(digest) ?? new Set();
        this.#targets.set(digest, targets.add(target));
        try {
          await held.sendTo(target, start, endExclusive);
        } finally {
          targets.delete(target);
          if (targets.size === 0) this.#targets.delete(digest);
        }
      },
    };
  }

  cutOff(digest: string, reason: Error): void {
    for (const target of this.#targets.get(digest) ?? []) target.destroy(reason);
  }
}
