import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/** MegaRAC, on boards of many makers: known by what is under `Oem`, since the manufacturer is the board's. */
export const ami: Vendor = {
  ...generic,
  name: 'ami',
  matches: (facts) =>
    facts.oem.includes('Ami') || names(facts, 'american megatrends') || facts.vendor === 'AMI',
  quirks: [
    {
      device: 'AMI MegaRAC',
      does: 'wants boot changes at the settings resource, which may lack Boot',
      knownFrom: 'DMTF/Redfish-Tacklebox issues 111, 144, sushy note check-for-boot-attrs-in-settingsuri',
      remedy: 'goes there when told, if it holds Boot',
      shownBy: 'R17: AMI sends us to the settings object, which is read and then written',
    },
  ],
};
