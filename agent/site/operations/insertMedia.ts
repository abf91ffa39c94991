import { repeatable, type SiteAction } from './action.ts';

export const insertMedia: SiteAction<'media.insert'> = {
  run: async ({ url }, { withBmc, deadline }) => {
    await withBmc((bmc) => bmc.insertMedia(url, { deadline }));
    return { url, by: 'virtual-media' };
  },
  // The same image that is in the drive already stays there.
  settle: repeatable,
};
