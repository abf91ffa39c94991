import type { BootDevice } from '#contract/steps.ts';
import { type ActionContext, repeatable, type SiteAction } from './action.ts';
import { isoEntryOf } from './bootEntry.ts';

export const setBootDevice: SiteAction<'management.setBootDevice'> = {
  run: async (input, context) => {
    const { persistent = false, mode } = input;
    const device = isByNetwork(input.device, context) ? 'pxe' : input.device;
    const stored = await context.withBmc((bmc, limits) =>
      bmc.setBootDevice({ device, persistent, ...(mode && { mode }) }, limits),
    );
    return { ...stored, ...(device === input.device ? {} : { insteadOf: input.device }) };
  },
  // Setting reads back and leaves the same state twice; nothing has restarted the machine in between, since a node's
  // operations run one after the other.
  settle: repeatable,
};

/** While the machine's CD is an ISO that it boots by `sanboot`, the way to it is the network. */
function isByNetwork(device: BootDevice, context: ActionContext): boolean {
  const entry = device === 'cd' ? isoEntryOf(context) : undefined;
  return entry !== undefined && Date.parse(entry.expiresAt) > Date.now();
}
