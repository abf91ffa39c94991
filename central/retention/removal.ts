import type { DeleteResult } from 'kysely';
import type { Queries } from '../store/store.ts';

/** How many rows one transaction removes at most: on SQLite nothing else is written or read meanwhile. */
export const batchSize = 200;

/** What one transaction removed, and whether there may be more of it. */
export interface Batch {
  removed: number;
  more: boolean;
}

/** Removes the next rows of one kind, oldest first, in the transaction that it is given. */
export type Removal = (queries: Queries) => Promise<Batch>;

/** The removal of rows of which none stays: `remove` deletes the oldest, `batchSize` of them at most. */
export function removeAll(remove: (queries: Queries) => Promise<DeleteResult>): Removal {
  return async (queries) => {
    const removed = Number((await remove(queries)).numDeletedRows);
    return { removed, more: removed === batchSize };
  };
}

/** Where a walk through rows by their time stands. */
export interface Position {
  time: string;
  id: string;
}

/** Rows of which some stay. */
export interface Walk {
  /** Those after a position, oldest first. */
  page(queries: Queries, after: Position | undefined): Promise<Position[]>;
  /** Which of these may go. */
  mayGo(queries: Queries, ids: readonly string[]): Promise<string[]>;
  /** Removes the first of these, as many as one transaction should: how many rows that were, and how many of `ids` are dealt with. */
  remove(queries: Queries, ids: readonly string[]): Promise<{ removed: number; done: number }>;
}

/** The removal of rows of which some stay: each is looked at once, so that those cost nothing but that. */
export function removeSome({ page, mayGo, remove }: Walk): Removal {
  let at: Position | undefined;
  let going: string[] = [];
  return async (queries) => {
    if (going.length === 0) {
      const rows = await page(queries, at);
      if (rows.length === 0) return { removed: 0, more: false };
      at = rows.at(-1);
      going = await mayGo(
        queries,
        rows.map(({ id }) => id),
      );
    }
    const { removed, done } = await remove(queries, going);
    going = going.slice(done);
    return { removed, more: true };
  };
}
