import { openRingSealer, openSealer, type Sealer } from '#base/sealing.ts';
import type { Queries } from './store.ts';

/** Where the database holds what `at-rest` encrypts; a test holds this against the schema. */
export const sealedColumns = [
  { table: 'secrets', key: 'ref' },
  { table: 'operations', key: 'operation_id' },
] as const;

/** Rows that are looked at in one query. */
const page = 500;

/** Encrypts by the newest of `keys`, the first, whatever an older one has encrypted. Returns how many rows that were. */
export async function resealAll(store: Queries, keys: readonly Buffer[]): Promise<number> {
  const [newest] = keys;
  if (newest === undefined) return 0;
  const current = openSealer(newest);
  const ring = openRingSealer(() => keys);
  let resealed = 0;
  for (const { table, key } of sealedColumns) resealed += await resealTable(store, table, key, current, ring);
  return resealed;
}

async function resealTable(
  store: Queries,
  table: (typeof sealedColumns)[number]['table'],
  key: (typeof sealedColumns)[number]['key'],
  current: Sealer,
  ring: Sealer,
): Promise<number> {
  let resealed = 0;
  for (let after = ''; ; ) {
    const rows = await pageOf(store, table, key, after);
    for (const row of rows) {
      if (opens(current, row.sealed)) continue;
      await update(store, table, key, row.id, current.seal(ring.open(row.sealed)));
      resealed++;
    }
    after = rows.at(-1)?.id ?? after;
    if (rows.length < page) return resealed;
  }
}

function opens(sealer: Sealer, sealed: Buffer): boolean {
  try {
    sealer.open(sealed);
    return true;
  } catch {
    return false;
  }
}

/** The compiler cannot tie a table to its key's column in a union of tables. */
function pageOf(store: Queries, table: string, key: string, after: string) {
  const { ref } = store.dynamic;
  return store
    .selectFrom(table as 'secrets')
    .select((column) => [column.ref(key as 'ref').as('id'), 'sealed'])
    .where(ref(key), '>', after)
    .orderBy(ref(key))
    .limit(page)
    .execute();
}

async function update(store: Queries, table: string, key: string, id: string, sealed: Buffer): Promise<void> {
  await store
    .updateTable(table as 'secrets')
    .set({ sealed })
    .where(store.dynamic.ref(key), '=', id)
    .execute();
}
