import { canonicalMac } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { isDuplicate, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/**
 * Hardware addresses in their one spelling.
 * @throws RailheadError INVALID_INPUT that names the first that is none
 */
export function canonicalMacs(macs: readonly string[]): string[] {
  return macs.map((text, index) => {
    const mac = canonicalMac(text);
    if (mac !== undefined) return mac;
    const path = `macs[${index}]`;
    throw new RailheadError('INVALID_INPUT', `${path}: ${text} is not a hardware address of 6 bytes`, {
      path,
    });
  });
}

export function macsOf(store: Queries, nodeId: string): Promise<Row<'node_macs'>[]> {
  return store.selectFrom('node_macs').selectAll().where('node_id', '=', nodeId).orderBy('mac').execute();
}

/** A hardware address and the node that it is of. `discoveredAt`: PXE discovery found it; null: it was enrolled. */
export interface MacBinding {
  siteId: string;
  nodeId: string;
  mac: string;
  discoveredAt: string | null;
}

/** @throws RailheadError CONFLICT when a node of the site has it */
export async function bindMac(queries: Queries, binding: MacBinding): Promise<void> {
  const { siteId, nodeId, mac, discoveredAt } = binding;
  try {
    await queries
      .insertInto('node_macs')
      .values({ site_id: siteId, mac, node_id: nodeId, discovered_at: discoveredAt })
      .execute();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = `${mac} belongs to a node of this site already`;
    throw new RailheadError('CONFLICT', message, { path: 'macs', mac }, error);
  }
}
