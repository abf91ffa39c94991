import type { Log } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import { type Route, route } from '#doors/routes.ts';
import type { Requests } from '../drivers/requests.ts';
import type { LocalUser } from './localUser.ts';

export interface ConfirmParts {
  requests: Pick<Requests, 'confirm'>;
  log: Log;
}

/** How an operator says that what they were asked is done. On the local socket alone: their word ends an operation. */
export function confirmRoutes(
  { requests, log }: ConfirmParts,
  admit: (request: Parameters<Route['admit']>[0]) => LocalUser,
): Route[] {
  return [
    route<LocalUser>({
      method: 'POST',
      path: '/v1/nodes/:nodeId/confirm',
      admit,
      answer: ({ params }, { uid }) => {
        const { nodeId } = params as { nodeId: string };
        const request = requests.confirm(nodeId);
        if (request === undefined) throw nothingAsked(nodeId);
        log.info({ nodeId, uid, text: request.text }, 'an operator has confirmed it');
        return { nodeId, confirmed: request.text };
      },
    }),
  ];
}

function nothingAsked(nodeId: string): RailheadError {
  return new RailheadError('NOT_FOUND', `nobody is asked to do anything to ${nodeId} at this site`, {
    path: 'nodeId',
    reason: 'nothing-asked',
  });
}
