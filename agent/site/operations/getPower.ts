import { repeatable, type SiteAction } from './action.ts';

export const getPower: SiteAction<'power.getPower'> = {
  run: async (_input, { withBmc }) => ({ power: await withBmc((bmc, limits) => bmc.getPower(limits)) }),
  settle: repeatable,
};
