import { canonicalMac } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { canonicalUuid } from '#contract/productUuid.ts';
import type { ReportedEvent } from '../agents/reportSchema.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { bindMac } from './macs.ts';

/** How many hardware addresses of one site are remembered: those that were seen last. */
const mostOfSite = 10_000;

/** Notes a machine that booted at a site and that no node has the hardware address of. One without a product UUID proposes nothing. */
export async function noteDiscovered(
  queries: Queries,
  siteId: string,
  { mac, uuid }: ReportedEvent,
): Promise<void> {
  const address = canonicalMac(mac ?? '');
  if (address === undefined || uuid === undefined) return;
  const seen = { uuid: canonicalUuid(uuid), seen_at: now() };
  await queries
    .insertInto('discovered_machines')
    .values({ site_id: siteId, mac: address, ...seen })
    .onConflict((conflict) => conflict.columns(['site_id', 'mac']).doUpdateSet(seen))
    .execute();
  await trim(queries, siteId);
}

/** A site tells of each address once, so none goes for its age; but whoever is on a boot network can show any number of them. */
async function trim(queries: Queries, siteId: string): Promise<void> {
  const last = await queries
    .selectFrom('discovered_machines')
    .select('seen_at')
    .where('site_id', '=', siteId)
    .orderBy('seen_at', 'desc')
    .offset(mostOfSite)
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  await queries
    .deleteFrom('discovered_machines')
    .where('site_id', '=', siteId)
    .where('seen_at', '<=', last.seen_at)
    .execute();
}

/** The hardware addresses that PXE discovery proposes for a node: seen at its site, with its product UUID, and nobody's. */
export async function proposedMacs(
  store: Queries,
  { site_id: siteId, uuid }: Pick<Row<'nodes'>, 'site_id' | 'uuid'>,
): Promise<string[]> {
  if (uuid === null) return [];
  const rows = await store
    .selectFrom('discovered_machines')
    .select('mac')
    .where('site_id', '=', siteId)
    .where('uuid', '=', canonicalUuid(uuid))
    .where('mac', 'not in', (query) =>
      query.selectFrom('node_macs').select('mac').where('site_id', '=', siteId),
    )
    .orderBy('mac')
    .execute();
  return rows.map(({ mac }) => mac);
}

/**
 * Binds a proposed hardware address to its node.
 * @throws RailheadError INVALID_INPUT for no hardware address, NOT_FOUND for one that discovery does not propose, CONFLICT when it
 *   belongs to a node
 */
export async function confirmMac(store: Queries, node: Row<'nodes'>, text: string): Promise<string> {
  const mac = canonicalMac(text);
  if (mac === undefined)
    throw new RailheadError('INVALID_INPUT', `mac: ${text} is not a hardware address of 6 bytes`, {
      path: 'mac',
    });
  const proposed = await proposedMacs(store, node);
  if (!proposed.includes(mac)) throw notProposed(node, mac, proposed);
  await bindMac(store, { siteId: node.site_id, nodeId: node.node_id, mac, discoveredAt: now() });
  return mac;
}

function notProposed({ node_id: nodeId }: Row<'nodes'>, mac: string, proposed: string[]): RailheadError {
  const message = `no machine with ${mac} and the product UUID of ${nodeId} has booted at its site`;
  return new RailheadError('NOT_FOUND', message, { path: 'mac', mac, proposed });
}
