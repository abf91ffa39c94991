import type { FastifyRequest } from 'fastify';
import type { Log } from '#base/log.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { type Route, route } from '#doors/routes.ts';
import { boundNode } from '../drivers/boundNode.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import { requireNode } from '../store/spec.ts';
import type { SiteState } from '../store/state.ts';
import type { LocalUser } from './localUser.ts';

export interface TrustBmcParts {
  state: Pick<SiteState, 'spec' | 'bmcPins' | 'sshKeys'>;
  bmcs: Pick<Bmcs, 'closeSession'>;
  log: Log;
}

/**
 * A BMC that was replaced or reset shows another certificate and another SSH host key: an operator who knows why has the next ones pinned in
 * their place. What the node's record names stays. On the local socket alone.
 */
export function trustBmcRoutes(
  parts: TrustBmcParts,
  admit: (request: Parameters<Route['admit']>[0]) => LocalUser,
): Route[] {
  return [
    route<LocalUser>({
      method: 'POST',
      path: '/v1/nodes/:nodeId/trust-bmc',
      admit,
      answer: async (request, { uid }) => {
        const forgotten = await forgetPins(nodeOf(request, parts), parts);
        parts.log.warn({ uid, ...forgotten }, 'an operator has what a BMC shows next pinned');
        return forgotten;
      },
    }),
  ];
}

async function forgetPins(node: SiteNode, { state, bmcs }: TrustBmcParts) {
  const { bmc } = boundNode(node);
  const { address = '', certificateSha256, sshHostKey } = bmc;
  const host = URL.parse(address)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  const certificate = state.bmcPins.forget(address);
  const sshHostKeys = state.sshKeys.forget(host);
  // An open session goes by the pin that it began with.
  await bmcs.closeSession(node);
  const named = {
    ...(certificateSha256 !== undefined && { certificateSha256 }),
    ...(sshHostKey !== undefined && { sshHostKey }),
  };
  return { nodeId: node.nodeId, ...(certificate !== undefined && { certificate }), sshHostKeys, named };
}

function nodeOf({ params }: FastifyRequest, { state }: TrustBmcParts): SiteNode {
  const { nodeId } = params as { nodeId: string };
  return requireNode(state.spec, nodeId);
}
