import type { Vendor } from './vendor.ts';

/** What the standard says (DSP0266, DSP2046 ComputerSystem), for every BMC without a file of its own. */
export const generic: Vendor = {
  name: 'generic',
  matches: () => true,
  bootFields: 'least',
  misleading: {},
};
