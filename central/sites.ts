import type { SiteSettings } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { isDuplicate, now, type Queries } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** A site's name, for people. */
export const siteNamePattern = '^[a-z0-9][a-z0-9._-]{0,62}$';

/** @throws RailheadError CONFLICT when a site has this name */
export async function createSite(store: Queries, name: string): Promise<Row<'sites'>> {
  const row = { site_id: newId('site'), name, created_at: now() };
  try {
    return await store
      .insertInto('sites')
      .values({ ...row, seen_at: null, inventory_url: null, inventory_pin: null, media_from: null })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new RailheadError('CONFLICT', `a site is named ${name} already`, { path: 'name' }, error);
  }
}

/** @throws RailheadError NOT_FOUND */
export async function requireSite(store: Queries, siteId: string): Promise<Row<'sites'>> {
  const site = await store.selectFrom('sites').selectAll().where('site_id', '=', siteId).executeTakeFirst();
  if (site === undefined)
    throw new RailheadError('NOT_FOUND', `there is no site ${siteId}: sites.list shows them`, {
      path: 'siteId',
    });
  return site;
}

/**
 * Says where a site's inventory is read from now on; without a place it is not.
 * @throws RailheadError NOT_FOUND; INVALID_INPUT for a pin of what shows no certificate
 */
export async function setInventoryPlace(
  store: Queries,
  siteId: string,
  { url, pin }: { url: string | null; pin?: string },
): Promise<Row<'sites'>> {
  await requireSite(store, siteId);
  if (pin !== undefined && !url?.startsWith('https:'))
    throw new RailheadError('INVALID_INPUT', 'a pin is of a certificate: the URL must be https', {
      path: 'pin',
    });
  return store
    .updateTable('sites')
    .set({ inventory_url: url, inventory_pin: pin ?? null })
    .where('site_id', '=', siteId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Keeps what a site has told of its configuration. */
export async function noteSettings(
  store: Queries,
  siteId: string,
  { mediaFrom }: SiteSettings,
): Promise<void> {
  await store.updateTable('sites').set({ media_from: mediaFrom }).where('site_id', '=', siteId).execute();
}
