import { isIsoEntry } from '#contract/bootEntry.ts';
import { repeatable, type SiteAction } from './action.ts';

/** Takes out what is in the virtual drives, and removes the boot entry by which the machine boots an ISO instead. */
export const ejectMedia: SiteAction<'media.eject'> = {
  run: async (_input, { nodeId, state, withBmc, deadline }) => {
    const entry = state.entries.byNode(nodeId);
    const removed = entry !== undefined && isIsoEntry(entry) && state.entries.remove(nodeId);
    await withBmc((bmc) => bmc.ejectMedia({ deadline }));
    return { removed };
  },
  settle: repeatable,
};
