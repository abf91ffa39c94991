import { isSameBmc } from '#contract/bmcBinding.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { parseJson, type Queries } from '../store/store.ts';

/**
 * A chassis may have one BMC for several nodes.
 * @throws RailheadError INVALID_STATE, reason `shared-bmc`, while another node has the BMC of this one: its secret would open it no more
 */
export async function refuseSharedBmc(
  store: Queries,
  { nodeId, siteId, tenantId }: { nodeId: string; siteId: string; tenantId: string },
): Promise<void> {
  const nodes = await store
    .selectFrom('nodes')
    .select(['node_id', 'tenant_id', 'bmc'])
    .where('site_id', '=', siteId)
    .where('state', '!=', 'retired')
    .where('bmc', 'is not', null)
    .execute();
  const own = parseJson<BmcBinding>(nodes.find((node) => node.node_id === nodeId)?.bmc ?? null);
  const other = nodes.find(
    (node) => node.node_id !== nodeId && isSameBmc(own, parseJson<BmcBinding>(node.bmc)),
  );
  if (other === undefined) return;
  // What machines another tenant has is not for this one to know.
  const told = other.tenant_id === tenantId ? other.node_id : undefined;
  const message = `${told ?? "another tenant's node"} has the same BMC, and would be without its password: change it at the BMC, then set the secrets of both`;
  throw new RailheadError('INVALID_STATE', message, { reason: 'shared-bmc', ...(told && { nodeId: told }) });
}
