import { generic } from './generic.ts';
import { hpe } from './hpe.ts';
import type { Vendor } from './vendor.ts';

/** iLO 4: known by its firmware, or by the `Hp` that later ones no longer have. Its Redfish is older than the standard's first actions. */
export const ilo4: Vendor = {
  ...generic,
  name: 'ilo4',
  matches: ({ firmwareVersion, oem }) =>
    firmwareVersion.startsWith('iLO 4') || (oem.includes('Hp') && !oem.includes('Hpe')),
  ...(hpe.console && { console: hpe.console }),
  quirks: [
    {
      device: 'iLO 4',
      does: 'names no reset types at all',
      knownFrom: 'stmcginnis/gofish PR 279',
      remedy: 'tries the best, then the next',
      shownBy: 'nowhere (iLO 4): tried in order until one is taken',
    },
    {
      device: 'iLO 4',
      does: 'has no InsertMedia; its drives are changed by PATCH',
      knownFrom: 'sushy note fix-virtual-media-fallback (the same of a Lenovo SD530)',
      remedy: 'uses PATCH where there is no action',
      shownBy: 'a drive without actions is changed by PATCH, both ways',
    },
  ],
};
