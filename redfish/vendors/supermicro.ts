import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/**
 * Standard: a PATCH changes what it names. Supermicro: fields of Boot that are not sent go back to their
 * defaults, so that an override without its mode turns a UEFI machine to Legacy (DMTF/Redfishtool PR 106,
 * OpenStack story 2008547, bmc-toolbox/bmclib PR 459). Where the mode is no property of the BMC (X10,
 * community.general issue 11542), it is not sent either: only what was read is.
 */
export const supermicro: Vendor = {
  ...generic,
  name: 'supermicro',
  matches: (facts) => names(facts, 'supermicro', 'super micro'),
  bootFields: 'all',
};
