import { canonicalAddress } from '#contract/bmcAddress.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { parseJson, type Queries } from '../store/store.ts';

/**
 * A chassis may have one BMC for several nodes.
 * @throws RailheadError INVALID_STATE, reason `shared-bmc`, while another node has the BMC of this one: its secret would open it no more
 */
export async function refuseSharedBmc(store: Queries, nodeId: string, siteId: string): Promise<void> {
  const nodes = await store
    .selectFrom('nodes')
    .select(['node_id', 'bmc'])
    .where('site_id', '=', siteId)
    .where('state', '!=', 'retired')
    .where('bmc', 'is not', null)
    .execute();
  const bmcs = new Map(nodes.map((node) => [node.node_id, parseJson<BmcBinding>(node.bmc)]));
  const own = bmcs.get(nodeId);
  const other = [...bmcs].find(([id, bmc]) => id !== nodeId && isSameBmc(own, bmc));
  if (other === undefined) return;
  const message = `${other[0]} has the same BMC, and would be without its password: change it at the BMC, then set the secrets of both`;
  throw new RailheadError('INVALID_STATE', message, { reason: 'shared-bmc', nodeId: other[0] });
}

/** By one protocol at one address, or by two at one host. */
export function isSameBmc(one: BmcBinding | undefined, other: BmcBinding | undefined): boolean {
  if (one?.address === undefined || other?.address === undefined) return false;
  if (one.driver === other.driver) return canonicalAddress(one.address) === canonicalAddress(other.address);
  return hostOf(one.address) === hostOf(other.address);
}

function hostOf(address: string): string | undefined {
  return URL.parse(canonicalAddress(address))?.hostname;
}
