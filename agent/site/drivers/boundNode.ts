import { canonicalAddress } from '#contract/bmcAddress.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding, SiteNode } from '#contract/nodeSpec.ts';

/** A node that something drives. */
export type BoundNode = SiteNode & { bmc: BmcBinding };

/** Where a node is driven from: two nodes of one chassis may have one BMC, a machine without one is a place by itself. */
export function placeOf({ nodeId, bmc }: BoundNode): string {
  return bmc.address ?? `${bmc.driver} ${nodeId}`;
}

/**
 * A node with what drives it, its address in its one spelling.
 * @throws RailheadError INVALID_STATE (`no-bmc`)
 */
export function boundNode(node: SiteNode): BoundNode {
  const { bmc } = node;
  if (bmc?.address !== undefined) return { ...node, bmc: { ...bmc, address: canonicalAddress(bmc.address) } };
  if (bmc !== undefined) return { ...node, bmc };
  throw new RailheadError('INVALID_STATE', `${node.nodeId} has no BMC in its record: enroll it with one`, {
    path: 'bmc',
    reason: 'no-bmc',
    nodeId: node.nodeId,
  });
}

/**
 * A node as another driver reaches it, e.g. `ipmi` a BMC that was enrolled for Redfish: at the same host, with the same credentials.
 * @throws RailheadError UNSUPPORTED (`another-bmc`) for the BMC of another host
 */
export function drivenBy(node: SiteNode, driver: BmcBinding['driver'], address: unknown): SiteNode {
  const { bmc } = node;
  if (bmc === undefined || (bmc.driver === driver && (address === undefined || address === bmc.address)))
    return node;
  if (driver === 'wake-on-lan' || driver === 'manual') {
    const { bootOrder } = bmc;
    return { ...node, bmc: { driver, ...(bootOrder !== undefined && { bootOrder }) } };
  }
  const host = hostOf(bmc.address);
  const wanted = address ?? `${driver === 'ipmi' ? 'ipmi' : 'https'}://${host}`;
  if (host === undefined || hostOf(wanted) !== host) throw anotherBmc(wanted);
  const { certificateSha256: _, ...kept } = bmc;
  return { ...node, bmc: { ...kept, driver, address: wanted as string } };
}

function hostOf(address: unknown): string | undefined {
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).hostname : undefined;
}

function anotherBmc(address: unknown): RailheadError {
  const message = `${address} is not the BMC that the node was enrolled with: leave config.address out`;
  return new RailheadError('UNSUPPORTED', message, { path: 'config.address', reason: 'another-bmc' });
}
