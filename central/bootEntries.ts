import type { BootEntry } from '#contract/bootEntry.ts';
import { withdrawnDigests } from './images/withdrawal.ts';
import { now, type Queries } from './store/store.ts';

/** Makes an entry, and its signed form, what the node's site is to serve: in the place of the one that was. */
export async function desireEntry(store: Queries, entry: BootEntry, signed: string): Promise<void> {
  const values = {
    site_id: entry.siteId,
    entry_id: entry.entryId,
    entry: signed,
    expires_at: entry.expiresAt,
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

/** What a site is to serve now, each entry signed; none whose ramdisks are all withdrawn. */
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
    .filter((signed) => digestsOf(signed).some((digest) => !withdrawn.has(digest)));
}

/** The ramdisks of an entry that this centre signed itself. */
function digestsOf(signed: string): string[] {
  const payload = Buffer.from(signed.split('.')[1] ?? '', 'base64url').toString('utf8');
  return Object.values((JSON.parse(payload) as BootEntry).ramdisk.digests);
}
