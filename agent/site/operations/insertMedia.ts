import { repeatable, type SiteAction } from './action.ts';
import { isoEntryOf, placeEntry } from './bootEntry.ts';
import { mountFromCache } from './mountFromCache.ts';

export const insertMedia: SiteAction<'media.insert'> = {
  run: async (input, context) => {
    const { nodeId, state, withBmc } = context;
    if ('entry' in input) {
      const { entryId, expiresAt } = await placeEntry(input.entry, 'iso', context);
      return { by: 'sanboot', entryId, expiresAt };
    }
    // A new medium takes the place of the old one, which was no medium of the BMC.
    if (isoEntryOf(context) !== undefined) state.entries.remove(nodeId);
    if ('cached' in input)
      return { by: 'virtual-media', from: 'cache', url: await mountFromCache(input.cached, context) };
    const { url } = input;
    await withBmc((bmc, limits) => bmc.insertMedia(url, limits));
    state.mediaUrls.end(nodeId);
    return { by: 'virtual-media', url };
  },
  // The same image that is in the drive already stays there, and an entry takes its own place.
  settle: repeatable,
};
