import { repeatable, type SiteAction } from './action.ts';

export const setBootDevice: SiteAction<'management.setBootDevice'> = {
  run: async ({ device, persistent = false }, { withBmc }) => ({
    ...(await withBmc((bmc) => bmc.setBootDevice({ device, persistent }))),
  }),
  // Setting reads back and leaves the same state twice; nothing has restarted the machine in between, since a node's
  // operations run one after the other.
  settle: repeatable,
};
