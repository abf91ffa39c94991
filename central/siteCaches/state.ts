import type { CacheState } from '#contract/images.ts';

/** What one agent says of one image in its cache. */
export interface AgentCopy {
  state: CacheState;
  receivedBytes: number | null;
  error: string | null;
}

/** From the most to the least that a site can do with an image. */
const order: readonly CacheState[] = ['ready', 'pulling', 'evicting', 'failed'];

/**
 * What an image is at a site whose agents hold these copies of it: ready if any agent has it ready, else pulling if one fetches
 * it, else evicting; failed only when no agent has more. Undefined without a copy.
 */
export function stateAtSite(copies: readonly AgentCopy[]): AgentCopy | undefined {
  const [best] = copies.toSorted(
    (one, other) =>
      order.indexOf(one.state) - order.indexOf(other.state) ||
      (other.receivedBytes ?? 0) - (one.receivedBytes ?? 0),
  );
  return best;
}
