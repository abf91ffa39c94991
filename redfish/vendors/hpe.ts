import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/**
 * Standard: any writable fields of Boot may be sent together. HP DL160: a PATCH with more than the fields that
 * change is refused (bmc-toolbox/bmclib PR 318), which is the opposite of Supermicro: the least first, whatever
 * the default above becomes.
 */
export const hpe: Vendor = {
  ...generic,
  name: 'hpe',
  matches: (facts) => names(facts, 'hpe', 'hewlett') || facts.oem.includes('Hp'),
  bootFields: 'least',
};
