import { repeatable, type SiteAction } from './action.ts';

/** Takes a boot override back: the machine boots as its firmware is set up. Told by `driver.invoke` alone. */
export const clearBootDevice: SiteAction<'management.clearBootDevice'> = {
  run: async (_input, { withBmc }) => {
    await withBmc((bmc, limits) => bmc.clearBootDevice(limits));
    return {};
  },
  settle: repeatable,
};
