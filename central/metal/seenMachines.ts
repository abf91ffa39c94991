import type { SeenMachine } from '#contract/seenMachine.ts';
import { decodeCursor, type Page, type PageOf, pageOf } from '../api/cursor.ts';
import type { Queries, Store } from '../store/store.ts';

/** What of one site is remembered: more than a site does, since machines that it has forgotten stay here. */
const mostOfSite = 10_000;

/**
 * Notes the machines that a site tells of. A machine's id is a hardware address of it: records under another of its addresses were of
 * the same machine, before the site knew. Beyond the bound the machines that were not seen for longest go.
 */
export async function recordSeenMachines(
  store: Store,
  siteId: string,
  machines: readonly SeenMachine[],
): Promise<void> {
  if (machines.length === 0) return;
  await store.transaction().execute(async (queries) => {
    for (const machine of machines) await put(queries, siteId, machine);
    await trim(queries, siteId);
  });
}

async function put(queries: Queries, siteId: string, machine: SeenMachine): Promise<void> {
  const { machineId, macs, lastSeen } = machine;
  const others = macs.filter((mac) => mac !== machineId);
  if (others.length > 0)
    await queries
      .deleteFrom('seen_machines')
      .where('site_id', '=', siteId)
      .where('machine_id', 'in', others)
      .execute();
  const facts = { document: JSON.stringify(machine), last_seen: lastSeen };
  await queries
    .insertInto('seen_machines')
    .values({ site_id: siteId, machine_id: machineId, ...facts })
    .onConflict((conflict) => conflict.columns(['site_id', 'machine_id']).doUpdateSet(facts))
    .execute();
}

async function trim(queries: Queries, siteId: string): Promise<void> {
  const last = await queries
    .selectFrom('seen_machines')
    .select('last_seen')
    .where('site_id', '=', siteId)
    .orderBy('last_seen', 'desc')
    .offset(mostOfSite)
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  await queries
    .deleteFrom('seen_machines')
    .where('site_id', '=', siteId)
    .where('last_seen', '<=', last.last_seen)
    .execute();
}

/** A machine that was seen, and the node that it is. */
export type DiscoveredMachine = SeenMachine & { siteId: string; nodeId?: string };

/** A page of the machines seen, of one site or of all, by site and id. */
export async function listSeenMachines(
  store: Queries,
  { siteId, unknown, limit, cursor }: Page & { siteId?: string | undefined; unknown: boolean },
): Promise<PageOf<DiscoveredMachine>> {
  let query = store
    .selectFrom('seen_machines')
    .selectAll()
    .orderBy('site_id')
    .orderBy('machine_id')
    .limit(limit + 1);
  if (siteId !== undefined) query = query.where('site_id', '=', siteId);
  if (cursor !== undefined) {
    const [site, machine] = decodeCursor(cursor, 'string', 'string');
    query = query.where(({ eb, or, and }) =>
      or([eb('site_id', '>', site), and([eb('site_id', '=', site), eb('machine_id', '>', machine)])]),
    );
  }
  const rows = await query.execute();
  const page = pageOf(
    rows,
    limit,
    (row) => [row.site_id, row.machine_id],
    (row): DiscoveredMachine => ({ siteId: row.site_id, ...JSON.parse(row.document) }),
  );
  const items = await withNodes(store, page.items);
  return { ...page, items: unknown ? items.filter(({ nodeId }) => nodeId === undefined) : items };
}

async function withNodes(store: Queries, machines: DiscoveredMachine[]): Promise<DiscoveredMachine[]> {
  const macs = [...new Set(machines.flatMap((machine) => machine.macs))];
  if (macs.length === 0) return machines;
  const bound = await store
    .selectFrom('node_macs')
    .select(['site_id', 'mac', 'node_id'])
    .where('mac', 'in', macs)
    .execute();
  const nodes = new Map(bound.map((row) => [`${row.site_id} ${row.mac}`, row.node_id]));
  return machines.map((machine) => {
    const nodeId = machine.macs.map((mac) => nodes.get(`${machine.siteId} ${mac}`)).find(Boolean);
    return { ...machine, ...(nodeId !== undefined && { nodeId }) };
  });
}
