import Type from 'typebox';
import { findSpec } from '../agents/nodeSpec.ts';
import { acknowledgeAlarms, openAlarms } from '../alarms.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { fleet } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { agentStanding } from '../join/agents.ts';
import { present } from '../nodes.ts';
import { listImagesAtSite } from '../siteCaches/list.ts';
import { createSite, requireSite, setInventoryPlace, siteNamePattern } from '../sites.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

const closed = { additionalProperties: false };

/** The locations where a site agent stands. */
export const sites: Group = {
  create: method({
    kind: 'mutation',
    action: 'compute:sites:manage',
    input: Type.Object({ name: Type.String({ pattern: siteNamePattern }) }, closed),
    scopes: () => [fleet],
    run: async ({ store }, { name }) => presentSite(store, await createSite(store, name)),
  }),
  acknowledge: method({
    kind: 'mutation',
    action: 'compute:sites:manage',
    input: Type.Object({ siteId: Type.String({ maxLength: 128 }) }, closed),
    scopes: () => [fleet],
    run: async ({ store }, { siteId }, caller) => {
      await requireSite(store, siteId);
      return { acknowledged: await acknowledgeAlarms(store, { siteId }, caller.tokenId) };
    },
  }),
  setInventory: method({
    kind: 'mutation',
    action: 'compute:sites:manage',
    input: Type.Object(
      {
        siteId: Type.String({ maxLength: 128 }),
        url: Type.Union([Type.String({ pattern: '^https?://[^/@?#\\s]+$', maxLength: 256 }), Type.Null()]),
        pin: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
      },
      closed,
    ),
    scopes: () => [fleet],
    run: async ({ store }, { siteId, ...place }) =>
      presentSite(store, await setInventoryPlace(store, siteId, place)),
  }),
  images: method({
    kind: 'read',
    action: 'compute:sites:read',
    input: Type.Object({ siteId: Type.String({ maxLength: 128 }), ...pageFields }, closed),
    scopes: () => [fleet],
    run: async ({ store }, input) => {
      await requireSite(store, input.siteId);
      return listImagesAtSite(store, input);
    },
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
      const page = pageOf(
        await query.execute(),
        limit,
        (row) => [row.site_id],
        (row) => row,
      );
      return { ...page, items: await Promise.all(page.items.map((row) => presentSite(store, row))) };
    },
  }),
};

async function presentSite(store: Queries, row: Row<'sites'>) {
  const { site_id: siteId, name, created_at: createdAt, seen_at: seenAt } = row;
  const spec = await findSpec(store, { role: 'site', id: siteId });
  const { generation = 0, observed_generation: observedGeneration = 0 } = spec ?? {};
  const alarms = await openAlarms(store, { siteId });
  const agent = await agentStanding(store, { role: 'site', id: siteId });
  const standing = agent === undefined ? {} : { agent };
  const { inventory_url: url, inventory_pin: pin, media_from: mediaFrom } = row;
  const inventory = url === null ? undefined : { url, ...present({ pin }) };
  return {
    siteId,
    name,
    createdAt,
    generation,
    observedGeneration,
    ...present({ seenAt, mediaFrom }),
    ...(inventory && { inventory }),
    ...standing,
    alarms,
  };
}
