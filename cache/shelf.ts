import type { Clock } from '#base/clock.ts';
import type { DigestLocks } from './digestLocks.ts';
import type { Damage } from './heldIndex.ts';
import type { Holdings } from './holdings.ts';
import type { CachePaths } from './path.ts';
import type { Uses } from './uses.ts';

/** What the parts of a store share: the files, what is known of each, and who is busy with it. */
export interface Shelf {
  readonly paths: CachePaths;
  readonly holdings: Holdings;
  readonly uses: Uses;
  readonly locks: DigestLocks;
  /** The time of the day. */
  readonly clock: Clock;
  /** The disk refused something that the cache can do without for now. */
  readonly onFault: (error: unknown) => void;
  /** An artifact that was held, or lay under its name, is no more. */
  readonly onDamage: (damage: Damage) => void;
  /** An artifact begins to leave, or has left. */
  readonly onLeave: () => void;
}
