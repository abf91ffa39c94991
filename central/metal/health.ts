import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { Queries } from '../store/store.ts';

/** How a machine is, as its BMC said last. */
export interface NodeHealth extends BmcHealth {
  /** By the site's clock. */
  at: string;
}

/** Keeps what a BMC says of its machine, unless something newer is known, or it has none any more: reports may come late. */
export async function noteHealth(
  queries: Queries,
  nodeId: string,
  at: string,
  health: BmcHealth,
): Promise<void> {
  const document: NodeHealth = { ...health, at };
  await queries
    .updateTable('nodes')
    .set({ health: JSON.stringify(document), health_at: at })
    .where('node_id', '=', nodeId)
    .where('bmc', 'is not', null)
    .where((where) => where.or([where('health_at', 'is', null), where('health_at', '<=', at)]))
    .execute();
}
