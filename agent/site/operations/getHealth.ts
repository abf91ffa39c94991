import { RailheadError } from '#contract/errors.ts';
import { repeatable, type SiteAction } from './action.ts';

/** Health and power in one reading, as `contract/bmcHealth.ts` has it. Told by `driver.invoke` alone. */
export const getHealth: SiteAction<'management.getHealth'> = {
  run: async (_input, { withBmc }) =>
    withBmc(async (bmc, limits) => {
      if (bmc.health !== undefined) return { ...(await bmc.health(limits)) };
      throw new RailheadError('UNSUPPORTED', 'what drives this machine knows nothing of its health', {
        reason: 'inspect',
      });
    }),
  settle: repeatable,
};
