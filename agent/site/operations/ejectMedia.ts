import { repeatable, type SiteAction } from './action.ts';
import { isoEntryOf } from './bootEntry.ts';

/** Takes out what is in the virtual drives, and removes the boot entry by which the machine boots an ISO instead. */
export const ejectMedia: SiteAction<'media.eject'> = {
  run: async (_input, context) => {
    const { nodeId, state, withBmc } = context;
    if (isoEntryOf(context) !== undefined) state.entries.remove(nodeId);
    await withBmc((bmc, limits) => bmc.ejectMedia(limits));
    state.mediaUrls.end(nodeId);
    return {};
  },
  settle: repeatable,
};
