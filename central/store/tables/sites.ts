import type { Generated } from 'kysely';
import type { CacheState } from '#contract/images.ts';
import type { Json, Time } from './columns.ts';

/** The sites, their pools of machines, and what their caches say that they have. */
export interface SiteTables {
  sites: SitesTable;
  pools: PoolsTable;
  site_agents: SiteAgentsTable;
  node_image_cache: NodeImageCacheTable;
}

interface SitesTable {
  site_id: string;
  name: string;
  created_at: Time;
  seen_at: Time | null;
  /** Where its inventory is read; null: it only reports. */
  inventory_url: string | null;
  /** sha256 of the certificate there. */
  inventory_pin: string | null;
  /** Where its BMCs read ISOs of the catalog, as it has told; null: it has told nothing. */
  media_from: string | null;
}

interface PoolsTable {
  pool_id: string;
  tenant_id: string;
  site_id: string;
  class: string;
  policy: Json;
  /** Grows with every change. */
  version: Generated<number>;
  created_at: Time;
}

interface SiteAgentsTable {
  agent_id: string;
  site_id: string;
  seen_at: Time;
}

/** What each agent says that its cache has. */
interface NodeImageCacheTable {
  agent_id: string;
  sha256: string;
  ref: string;
  state: CacheState;
  size_bytes: number | null;
  received_bytes: number | null;
  error: Json | null;
  reported_at: Time;
}
