import { repeatable, type SiteAction } from './action.ts';

/** Which machine the BMC says this is, without starting it. */
export const inspectOob: SiteAction<'inspect.oob'> = {
  run: async (_input, { withBmc }) => ({ ...(await withBmc((bmc) => bmc.identity())) }),
  settle: repeatable,
};
