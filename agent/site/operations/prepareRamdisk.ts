import { repeatable, type SiteAction } from './action.ts';
import { placeEntry } from './bootEntry.ts';

export const prepareRamdisk: SiteAction<'boot.prepareRamdisk'> = {
  run: async (input, context) => {
    const { entryId, expiresAt, macs } = await placeEntry(input.entry, 'ramdisk', context);
    return { entryId, expiresAt, macs };
  },
  settle: repeatable,
};
