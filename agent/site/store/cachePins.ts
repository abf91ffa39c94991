import type { Sqlite } from '#base/sqlite.ts';

/** An image that an operator pinned at this site. */
export interface CachePin {
  digest: string;
  ref: string;
  /** Milliseconds since the epoch. */
  pinnedAt: number;
  /** The user who did it. */
  uid: number;
}

/** The operator's word on what stays in the cache: it outlives restarts, and the loss of the cache itself. */
export interface CachePins {
  all(): CachePin[];
  pin(pin: CachePin): void;
  /** False when it was not pinned. */
  unpin(digest: string): boolean;
}

export function openCachePins(database: Sqlite): CachePins {
  const all = database.prepare<[], CachePin>(
    'SELECT digest, ref, pinned_at AS pinnedAt, uid FROM cache_pins ORDER BY pinned_at',
  );
  const pin = database.prepare('INSERT OR REPLACE INTO cache_pins VALUES (@digest, @ref, @pinnedAt, @uid)');
  const unpin = database.prepare('DELETE FROM cache_pins WHERE digest = ?');
  return {
    all: () => all.all(),
    pin: (one) => void pin.run(one),
    unpin: (digest) => unpin.run(digest).changes > 0,
  };
}
