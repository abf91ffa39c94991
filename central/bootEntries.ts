import { type BootEntry, digestsOf } from '#contract/bootEntry.ts';
import { withdrawnDigests } from './images/withdrawal.ts';
import { now, type Queries } from './store/store.ts';
import type { Row } from './store/tables.ts';

/**
 * Makes an entry, and its signed form, what the node's site is to serve: in the place of the one that was. `imageId` is the ISO
 * that it boots: the site is to hold that as long.
 */
export async function desireEntry(
  store: Queries,
  entry: BootEntry,
  signed: string,
  imageId: string | null = null,
): Promise<void> {
  const values = {
    site_id: entry.siteId,
    entry_id: entry.entryId,
    entry: signed,
    expires_at: entry.expiresAt,
    image_id: imageId,
  };
  await store
    .insertInto('boot_entries')
    .values({ node_id: entry.nodeId, ...values })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(values))
    .execute();
}

/** From now on the node's site is to serve it nothing. */
export async function dropEntry(store: Queries, nodeId: string): Promise<void> {
  await store.deleteFrom('boot_entries').where('node_id', '=', nodeId).execute();
}

/** From now on the node boots no ISO from its site; what boots its ramdisk stays. */
export async function dropIsoEntry(store: Queries, nodeId: string): Promise<void> {
  await store
    .deleteFrom('boot_entries')
    .where('node_id', '=', nodeId)
    .where('image_id', 'is not', null)
    .execute();
}

/** The ISOs that machines of a site boot by their entries. */
export async function isosToServe(store: Queries, siteId: string): Promise<Row<'images'>[]> {
  return store
    .selectFrom('boot_entries')
    .innerJoin('images', 'images.image_id', 'boot_entries.image_id')
    .selectAll('images')
    .where('boot_entries.site_id', '=', siteId)
    .where('boot_entries.expires_at', '>', now())
    .orderBy('images.image_id')
    .execute();
}

/** What a site is to serve now, each entry signed; none whose images are all withdrawn. */
export async function desiredEntries(store: Queries, siteId: string): Promise<string[]> {
  const rows = await store
    .selectFrom('boot_entries')
    .select('entry')
    .where('site_id', '=', siteId)
    .where('expires_at', '>', now())
    .orderBy('node_id')
    .execute();
  const withdrawn = new Set(await withdrawnDigests(store));
  return rows
    .map((row) => row.entry)
    .filter((signed) => digestsOf(opened(signed)).some((digest) => !withdrawn.has(digest)));
}

/** An entry that this centre signed itself. */
function opened(signed: string): BootEntry {
  const payload = Buffer.from(signed.split('.')[1] ?? '', 'base64url').toString('utf8');
  return JSON.parse(payload) as BootEntry;
}
