import { repeatable, type SiteAction } from './action.ts';
import { isoEntryOf, placeEntry } from './bootEntry.ts';

export const insertMedia: SiteAction<'media.insert'> = {
  run: async (input, context) => {
    if ('entry' in input) {
      const { entryId, expiresAt } = await placeEntry(input.entry, 'iso', context);
      return { by: 'sanboot', entryId, expiresAt };
    }
    const { url } = input;
    const { nodeId, state, deadline, withBmc } = context;
    // A new medium takes the place of the old one, which was no medium of the BMC.
    if (isoEntryOf(context) !== undefined) state.entries.remove(nodeId);
    await withBmc((bmc) => bmc.insertMedia(url, { deadline }));
    return { by: 'virtual-media', url };
  },
  // The same image that is in the drive already stays there, and an entry takes its own place.
  settle: repeatable,
};
