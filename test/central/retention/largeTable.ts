import { sql } from 'kysely';
import type { Store } from '#central/store/store.ts';
import { now } from '#central/store/store.ts';

export interface LargeTable {
  nodeId: string;
  siteId: string;
  /** How many events in all, and how many of the first ones are too old; every second of those is a console's output. */
  events: number;
  old: number;
}

/** Adds a node with so many events, of some 400 characters each. */
export async function addLargeTable(
  store: Store,
  { nodeId, siteId, events, old }: LargeTable,
): Promise<void> {
  const node = { node_id: nodeId, tenant_id: 'root', site_id: siteId, state: 'active' } as const;
  await store
    .insertInto('nodes')
    .values({ ...node, created_at: now() })
    .execute();
  const long = new Date(Date.now() - 100 * 24 * 3_600_000).toISOString();
  const text = 'fan 3 failed '.repeat(30);
  await sql`
    INSERT INTO events (event_id, at, received_at, node_id, type, cause, text)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(events)})
    SELECT 'large/' || n, ${sql.lit(long)}, CASE WHEN n <= ${sql.lit(old)} THEN ${sql.lit(long)} ELSE ${sql.lit(now())} END,
      ${sql.lit(nodeId)}, CASE WHEN n % 2 = 0 THEN 'console.output' ELSE 'bmc.log' END, 'site', ${sql.lit(text)}
    FROM numbers`.execute(store);
}
