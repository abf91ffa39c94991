import type { ReportedImage } from '../agents/reportSchema.ts';
import type { CentralContext } from '../context.ts';
import { queueReconcile, type Reconciler, wakeReconcilers } from '../reconcilers.ts';
import { fromNow, now, type Queries, toJson } from '../store/store.ts';
import type { NewRow } from '../store/tables.ts';
import { agentLiveMs, syncSiteImageLocations } from './locations.ts';

/** Derives a site's image locations anew; its key is the site's id. */
export const siteCacheReconciler = 'provision.site-cache';

export const reconcileSiteCache: Reconciler = ({ store }, siteId) => syncSiteImageLocations(store, siteId);

/** Who reports, and where it stands. A site has one agent, or several. */
export interface ReportingAgent {
  agentId: string;
  siteId: string;
}

/** Takes the whole cache inventory of one agent; a change queues the site's reconciler in the same transaction. */
export async function recordInventory(
  { store, signals }: CentralContext,
  agent: ReportingAgent,
  inventory: readonly ReportedImage[],
): Promise<void> {
  const rows = inventory.map((cached) => cacheRow(agent.agentId, cached));
  await store.transaction().execute(async (queries) => {
    await noteAgent(queries, agent);
    if (!(await replaceRows(queries, agent.agentId, rows))) return;
    await queueReconcile(queries, siteCacheReconciler, agent.siteId);
  });
  wakeReconcilers(signals);
}

/** Notes that an agent is alive; one that was silent for so long that its copies did not count has them count again. */
export async function noteAgent(queries: Queries, { agentId, siteId }: ReportingAgent): Promise<void> {
  const known = await queries
    .selectFrom('site_agents')
    .select('seen_at')
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  const facts = { site_id: siteId, seen_at: now() };
  await queries
    .insertInto('site_agents')
    .values({ agent_id: agentId, ...facts })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(facts))
    .execute();
  if (known === undefined || known.seen_at > fromNow(-agentLiveMs)) return;
  await queueReconcile(queries, siteCacheReconciler, siteId);
}

/** Queues every site: agents fell silent, or images were registered, while nobody looked. */
export async function queueEverySite(queries: Queries): Promise<void> {
  for (const { site_id } of await queries.selectFrom('sites').select('site_id').execute())
    await queueReconcile(queries, siteCacheReconciler, site_id);
}

/** Queues the sites whose agents hold a digest that the catalog has just learned. */
export async function queueHoldersOf({ store, signals }: CentralContext, sha256: string): Promise<void> {
  const holders = await store
    .selectFrom('node_image_cache')
    .innerJoin('site_agents', 'site_agents.agent_id', 'node_image_cache.agent_id')
    .select('site_agents.site_id')
    .distinct()
    .where('node_image_cache.sha256', '=', sha256)
    .execute();
  for (const { site_id } of holders) await queueReconcile(store, siteCacheReconciler, site_id);
  if (holders.length > 0) wakeReconcilers(signals);
}

type CacheRow = NewRow<'node_image_cache'>;

function cacheRow(agentId: string, cached: ReportedImage): CacheRow {
  return {
    agent_id: agentId,
    sha256: cached.digest,
    ref: cached.ref,
    state: cached.state,
    size_bytes: cached.sizeBytes ?? null,
    received_bytes: cached.receivedBytes ?? null,
    error: toJson(cached.error),
    reported_at: now(),
  };
}

/** Puts an agent's rows in the place of those before; false when they say the same. */
async function replaceRows(queries: Queries, agentId: string, rows: readonly CacheRow[]): Promise<boolean> {
  const before = await queries
    .selectFrom('node_image_cache')
    .selectAll()
    .where('agent_id', '=', agentId)
    .execute();
  if (fingerprint(before) === fingerprint(rows)) return false;
  await queries.deleteFrom('node_image_cache').where('agent_id', '=', agentId).execute();
  for (const row of rows)
    await queries
      .insertInto('node_image_cache')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  return true;
}

function fingerprint(rows: readonly CacheRow[]): string {
  return rows
    .map(({ reported_at: _, ...row }) => JSON.stringify(Object.entries(row).toSorted()))
    .toSorted()
    .join('\n');
}
