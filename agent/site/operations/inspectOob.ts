import { repeatable, type SiteAction } from './action.ts';

/** What the BMC knows of its machine, without starting it: `contract/oobInventory.ts`. */
export const inspectOob: SiteAction<'inspect.oob'> = {
  run: async (_input, { withBmc }) => ({ ...(await withBmc((bmc, limits) => bmc.inspect(limits))) }),
  settle: repeatable,
};
