import { repeatable, type SiteAction } from './action.ts';

export const ejectMedia: SiteAction<'media.eject'> = {
  run: async (_input, { withBmc, deadline }) => {
    await withBmc((bmc) => bmc.ejectMedia({ deadline }));
    return {};
  },
  settle: repeatable,
};
