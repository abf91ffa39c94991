import type { CachedImage } from '#contract/images.ts';
import { damageRow } from './damage.ts';
import { pullRow, readyRow, unprovenRow } from './inventory.ts';
import type { Puller } from './puller.ts';
import type { Store } from './store.ts';
import type { Wishes } from './wishes.ts';
import { withdrawnRow } from './withdrawn.ts';

export interface CacheParts {
  wishes: Wishes;
  store: Store;
  puller: Puller;
  /** The ref of a digest as far as it is known; else the digest. */
  refOf: (digest: string) => string;
}

/**
 * What is said of one digest, the first that holds: it is withdrawn, refused, here, on its way in, on its way out, still to be hashed, damaged.
 * Under the ref that is wanted now.
 */
export function rowOf(digest: string, parts: CacheParts): CachedImage | undefined {
  const row = stateOf(digest, parts);
  return row !== undefined && parts.wishes.isPinnedHere(digest) ? { ...row, pinned: true } : row;
}

function stateOf(digest: string, { wishes, store, puller, refOf }: CacheParts): CachedImage | undefined {
  const held = store.get(digest);
  if (wishes.isWithdrawn(digest)) return withdrawnRow(digest, held?.ref ?? refOf(digest));
  const refused = wishes.refused(digest);
  if (refused !== undefined) return refused;
  const wanted = wishes.wanted().get(digest);
  if (held !== undefined) return readyRow({ ...held, ref: wanted?.ref ?? held.ref });
  const pull = puller.get(digest);
  if (pull !== undefined) return pullRow({ ...pull, image: wanted ?? pull.image });
  const leaving = store.leaving.get(digest);
  if (leaving !== undefined) return readyRow(leaving, 'evicting');
  const unproven = store.unproven.get(digest);
  if (unproven !== undefined) return unprovenRow(digest, refOf(digest), unproven, store.hashedBytes(digest));
  const damage = store.damage(digest);
  return damage && damageRow(damage, wanted !== undefined);
}

/** Every digest that has a row. */
export function digestsWithRow({ wishes, store, puller }: CacheParts): Set<string> {
  return new Set([
    ...wishes.refusedDigests(),
    ...store.held().map((held) => held.digest),
    ...puller.images().keys(),
    ...store.leaving.keys(),
    ...store.unproven.keys(),
    ...store.damages().map((damage) => damage.digest),
  ]);
}
