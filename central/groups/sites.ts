import Type from 'typebox';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { fleet } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { createSite, siteNamePattern } from '../sites.ts';
import type { Row } from '../store/tables.ts';

const closed = { additionalProperties: false };

/** The locations where a site agent stands. */
export const sites: Group = {
  create: method({
    kind: 'mutation',
    action: 'compute:sites:manage',
    input: Type.Object({ name: Type.String({ pattern: siteNamePattern }) }, closed),
    scopes: () => [fleet],
    run: async ({ store }, { name }) => presentSite(await createSite(store, name)),
  }),
  list: method({
    kind: 'read',
    action: 'compute:sites:read',
    input: Type.Object(pageFields, closed),
    scopes: () => [fleet],
    run: async ({ store }, { limit, cursor }) => {
      let query = store
        .selectFrom('sites')
        .selectAll()
        .orderBy('site_id')
        .limit(limit + 1);
      if (cursor !== undefined) query = query.where('site_id', '>', decodeCursor(cursor, 'string')[0]);
      return pageOf(await query.execute(), limit, (row) => [row.site_id], presentSite);
    },
  }),
};

function presentSite(row: Row<'sites'>) {
  const { site_id: siteId, name, generation, observed_generation: observedGeneration, seen_at: seenAt } = row;
  const contact = seenAt === null ? {} : { seenAt };
  return { siteId, name, createdAt: row.created_at, generation, observedGeneration, ...contact };
}
