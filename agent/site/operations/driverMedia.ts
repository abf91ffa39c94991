import { repeatable, type SiteAction } from './action.ts';
import { ejectMedia } from './ejectMedia.ts';
import { insertMedia } from './insertMedia.ts';

/** What `driver.invoke` has a driver do to the virtual drive: the first two as the steps `media.insert` and `media.eject` do. */
export const driverInsertMedia: SiteAction<'virtual-media.insertMedia'> = insertMedia;
export const driverEjectMedia: SiteAction<'virtual-media.ejectMedia'> = ejectMedia;

/** Tells what is in the drive: `{ inserted: false }`, or `inserted` with its `url`. */
export const driverInsertedMedia: SiteAction<'virtual-media.insertedMedia'> = {
  run: async (_input, { withBmc }) =>
    withBmc(async (bmc, limits) => {
      const url = await bmc.insertedMedia(limits);
      return url === undefined ? { inserted: false } : { inserted: true, url };
    }),
  settle: repeatable,
};
