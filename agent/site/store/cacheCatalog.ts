import type { Sqlite } from '#base/sqlite.ts';
import type { CacheImage } from '#contract/images.ts';

/**
 * The catalog's rows that the centre has sent to this site, signature and all: by them an operator pulls, pins or imports an image while the
 * centre is away, or when it is not desired here any more.
 */
export interface CacheCatalog {
  /** Takes the rows of a new desired state; the oldest of the others go when there are too many. */
  learn(images: readonly CacheImage[], now: number): void;
  find(digest: string): CacheImage | undefined;
  all(): CacheImage[];
}

const mostRows = 10_000;

type Row = { document: string };

export function openCacheCatalog(database: Sqlite): CacheCatalog {
  const put = database.prepare('INSERT OR REPLACE INTO cache_catalog VALUES (?, ?, ?)');
  const prune = database.prepare(
    'DELETE FROM cache_catalog WHERE digest NOT IN (SELECT digest FROM cache_catalog ORDER BY seen_at DESC LIMIT ?)',
  );
  const find = database.prepare<[string], Row>('SELECT document FROM cache_catalog WHERE digest = ?');
  const all = database.prepare<[], Row>('SELECT document FROM cache_catalog ORDER BY seen_at DESC');
  const parsed = ({ document }: Row): CacheImage => JSON.parse(document);
  const learn = database.transaction((images: readonly CacheImage[], now: number) => {
    for (const image of images) put.run(image.digest, JSON.stringify(image), now);
    prune.run(mostRows);
  });
  return {
    learn: (images, now) => void learn.immediate(images, now),
    find: (digest) => {
      const row = find.get(digest);
      return row && parsed(row);
    },
    all: () => all.all().map(parsed),
  };
}
