import { known } from '#base/known.ts';
import { RailheadError, toWireError, type WireError } from '#contract/errors.ts';
import type { CachedImage } from '#contract/images.ts';
import { collectGarbage, type Garbage, type GarbageOptions } from './garbage.ts';
import { type ImportOptions, importImage } from './importImage.ts';
import { type CacheParts, digestsWithRow, rowOf } from './rows.ts';
import type { ScrubState } from './scrub.ts';
import type { Store } from './store.ts';
import type { Trouble, Troubles } from './troubles.ts';

/** One image with what only the site itself knows of it. */
export interface CacheDetail extends Omit<CachedImage, 'pinned'> {
  /** The centre wants it here; otherwise it stays as long as there is room. */
  desired: boolean;
  /** Pinned by a deploy that runs, or by an operator here. */
  pinned: boolean;
  pinnedHere: boolean;
  /** Being sent, or read, now. */
  inUse: boolean;
  /** ISO 8601. */
  usedAt?: string;
  /** When its bytes were last hashed (ISO 8601). */
  verifiedAt?: string;
  /** How far the verification that runs has come. */
  verifiedBytes?: number;
  /** Why the last verification came to no end, which says nothing of the bytes. */
  verifyError?: WireError;
}

export interface CacheOverview {
  heldBytes: number;
  quotaBytes: number;
  /** Images that were found damaged since the agent started. */
  damages: number;
  /** What the cache's disk has refused since the agent started. */
  troubles: Trouble[];
  scrub?: Readonly<ScrubState>;
}

export interface CacheOperator {
  list(): CacheDetail[];
  show(digest: string): CacheDetail | undefined;
  overview(): CacheOverview;
  /**
   * Hashes a held image again; whether its bytes are right. Wrong ones go to quarantine.
   * @throws RailheadError NOT_FOUND when it is not held
   */
  verify(digest: string): Promise<boolean>;
  /**
   * Removes an image that is held, forgets one that was damaged, or ends a pull that was asked for here.
   * @throws RailheadError NOT_FOUND, or INVALID_STATE (`reason` desired, pinned or in-use)
   */
  evict(digest: string): Promise<void>;
  collectGarbage(options: GarbageOptions): Promise<Garbage>;
  /** Takes an image from elsewhere than its sources; see `importImage`. */
  importImage(bytes: AsyncIterable<Buffer>, options: ImportOptions): Promise<CacheDetail>;
}

export interface OperatorParts extends CacheParts {
  troubles: Troubles;
  damages: () => number;
  scrubbed: () => Readonly<ScrubState> | undefined;
  /** Called when something has come or gone. */
  onChange: () => void;
}

export function cacheOperator(parts: OperatorParts): CacheOperator {
  const { store, wishes, troubles, damages, scrubbed, onChange } = parts;
  const failed = new Map<string, WireError>();
  const show = (digest: string) => detailOf(digest, parts, failed);
  return {
    list: () => [...digestsWithRow(parts)].flatMap((digest) => show(digest) ?? []),
    show,
    overview: () => {
      const scrub = scrubbed();
      const { heldBytes, quotaBytes } = store;
      return {
        heldBytes,
        quotaBytes,
        damages: damages(),
        troubles: troubles.all(),
        ...(scrub && { scrub: { ...scrub } }),
      };
    },
    verify: async (digest) => {
      if (store.get(digest) === undefined) throw notHeld(digest);
      return verifyNoting(digest, store, failed).finally(onChange);
    },
    evict: async (digest) => {
      const wasAsked = wishes.answered(digest);
      const detail = show(digest);
      if (store.damage(digest) === undefined && detail !== undefined) refuseWanted(detail, digest);
      if (detail === undefined && !wasAsked) throw notHeld(digest);
      if (store.get(digest) === undefined) await store.expel(digest);
      // Meanwhile somebody may have pinned or opened it.
      else if (detail !== undefined && !(await store.evict(digest, wishes.isSpared)))
        refuseWanted(show(digest) ?? detail, digest);
      onChange();
    },
    collectGarbage: (options) => collectGarbage(parts, options).finally(onChange),
    importImage: async (bytes, options) => {
      const digest = await importImage(bytes, parts, options).finally(onChange);
      return show(digest)!;
    },
  };
}

/** What ends it is kept for who looks at the image's row. */
async function verifyNoting(digest: string, store: Store, failed: Map<string, WireError>): Promise<boolean> {
  failed.delete(digest);
  try {
    return await store.verify(digest, { direct: true });
  } catch (error) {
    failed.set(digest, toWireError(error));
    throw error;
  }
}

function detailOf(
  digest: string,
  parts: CacheParts,
  failed: ReadonlyMap<string, WireError>,
): CacheDetail | undefined {
  const row = rowOf(digest, parts);
  if (row === undefined) return undefined;
  const { wishes, store } = parts;
  const held = store.get(digest);
  const verifiedBytes = held && store.hashedBytes(digest);
  return {
    ...row,
    desired: wishes.isDesired(digest),
    pinned: wishes.isPinned(digest),
    pinnedHere: wishes.isPinnedHere(digest),
    inUse: store.isInUse(digest),
    ...(held && { usedAt: new Date(held.usedAt).toISOString() }),
    ...(held && held.verifiedAt > 0 && { verifiedAt: new Date(held.verifiedAt).toISOString() }),
    ...(verifiedBytes !== undefined && { verifiedBytes }),
    ...known({ verifyError: held && failed.get(digest) }),
  };
}

function notHeld(digest: string): RailheadError {
  return new RailheadError('NOT_FOUND', 'the cache of this site does not hold this image', { digest });
}

/** What somebody counts on is not evicted by hand either. */
function refuseWanted(detail: CacheDetail, digest: string): void {
  const { desired, pinned, pinnedHere, inUse, ref } = detail;
  if (desired)
    throw stays(ref, digest, 'desired', 'the centre wants it here: change the pool’s policy first');
  if (pinned) {
    const what = pinnedHere
      ? 'it is pinned: unpin it first'
      : 'a deploy that runs has pinned it: wait until it ends';
    throw stays(ref, digest, 'pinned', what);
  }
  if (inUse) throw stays(ref, digest, 'in-use', 'it is being read now: try again later');
}

function stays(ref: string, digest: string, reason: string, what: string): RailheadError {
  return new RailheadError('INVALID_STATE', `${ref} stays: ${what}`, { reason, digest });
}
