import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/**
 * Standard: `Cd` is a CD drive, virtual ones included. iDRAC: `Cd` is the physical drive; virtual media boots
 * by an attribute of Dell's own (dell/iDRAC-Redfish-Scripting issue 90, dell/terraform-provider-redfish issue
 * 332). Accepting `Cd` would boot the wrong thing.
 */
export const dell: Vendor = {
  ...generic,
  name: 'dell',
  matches: (facts) => names(facts, 'dell'),
  misleading: {
    cd: 'on iDRAC the boot device Cd is the physical drive, not virtual media: boot the image over the network (pxe) instead',
  },
};
