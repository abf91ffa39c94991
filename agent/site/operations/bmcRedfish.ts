import { RailheadError } from '#contract/errors.ts';
import { type RelayAnswer, type RelayRequest, whyNotRelayed } from '#contract/redfishRelay.ts';
import type { DriveOptions, MachineDriver } from '../drivers/driver.ts';
import { repeatable, type SiteAction } from './action.ts';

/** Sends one request of support to the BMC; the site decides for itself what is relayed, whatever the centre says. */
export const bmcRedfish: SiteAction<'bmc.redfish'> = {
  run: async (request, { withBmc }) => ({
    ...(await withBmc((bmc, limits) => relayed(bmc, request, limits))),
  }),
  // A reading is harmless to repeat; of anything else nobody knows.
  settle: async (request) => (request.method === 'GET' ? repeatable() : { kind: 'unknown', found: {} }),
};

/** @throws RailheadError FORBIDDEN (`not-relayed`), UNSUPPORTED (`no-redfish`), DRIVER_ERROR */
export async function relayed(
  bmc: MachineDriver,
  request: RelayRequest,
  limits: DriveOptions = {},
): Promise<RelayAnswer> {
  const why = whyNotRelayed(request);
  if (why !== undefined)
    throw new RailheadError('FORBIDDEN', `${request.method} ${request.path} is not relayed: ${why}`, {
      path: 'path',
      reason: 'not-relayed',
    });
  if (bmc.relay !== undefined) return bmc.relay(request, limits);
  throw new RailheadError('UNSUPPORTED', 'what drives this machine does not speak Redfish', {
    reason: 'no-redfish',
  });
}
