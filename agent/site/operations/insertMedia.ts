import { repeatable, type SiteAction } from './action.ts';
import { placeEntry } from './bootEntry.ts';

export const insertMedia: SiteAction<'media.insert'> = {
  run: async (input, context) => {
    if ('entry' in input) {
      const { entryId, expiresAt } = await placeEntry(input.entry, 'iso', context);
      return { by: 'sanboot', entryId, expiresAt };
    }
    const { url } = input;
    await context.withBmc((bmc) => bmc.insertMedia(url, { deadline: context.deadline }));
    return { by: 'virtual-media', url };
  },
  // The same image that is in the drive already stays there, and an entry takes its own place.
  settle: repeatable,
};
