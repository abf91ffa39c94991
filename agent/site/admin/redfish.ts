import type { Log } from '#base/log.ts';
import { toWireError } from '#contract/errors.ts';
import { RelayRequest } from '#contract/redfishRelay.ts';
import { validate } from '#contract/validate.ts';
import { type Route, route } from '#doors/routes.ts';
import { relayed } from '../operations/bmcRedfish.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import { requireNode } from '../store/spec.ts';
import type { SiteState } from '../store/state.ts';
import type { LocalUser } from './localUser.ts';

export interface RedfishRouteParts {
  state: Pick<SiteState, 'spec'>;
  bmcs: Pick<Bmcs, 'use'>;
  log: Log;
}

/** Support's way to a BMC while the centre is away, each call in the log with who made it. On the local socket alone: the admin listener knows nobody. */
export function redfishRoutes(
  { state, bmcs, log }: RedfishRouteParts,
  admit: (request: Parameters<Route['admit']>[0]) => LocalUser,
): Route[] {
  return [
    route<LocalUser>({
      method: 'POST',
      path: '/v1/bmc/:nodeId/redfish',
      admit,
      answer: async ({ params, body }, { uid }) => {
        const { nodeId } = params as { nodeId: string };
        const request = validate(RelayRequest, body);
        const call = { uid, nodeId, method: request.method, path: request.path };
        const node = requireNode(state.spec, nodeId);
        try {
          const answer = await bmcs.use(node, (bmc) => relayed(bmc, request));
          log.info({ ...call, status: answer.status }, 'a Redfish request was relayed');
          return answer;
        } catch (error) {
          log.warn({ ...call, code: toWireError(error).code }, 'a Redfish request was not relayed');
          throw error;
        }
      },
    }),
  ];
}
