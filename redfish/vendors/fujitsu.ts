import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/** iRMC S4 to S6. */
export const fujitsu: Vendor = {
  ...generic,
  name: 'fujitsu',
  matches: (facts) => names(facts, 'fujitsu', 'fsas', 'ts_fujitsu'),
  eventLogs: ['SystemEventLog'],
  insertFields: ['TransferProtocolType'],
  quirks: [
    {
      device: 'Fujitsu iRMC',
      does: 'needs TransferProtocolType with an image',
      knownFrom: 'fujitsu/terraform-provider-irmc-redfish (`transfer_protocol_type` is required)',
      remedy: 'sends it from the first time on',
      shownBy: 'Fujitsu is told how the image is fetched from the first time on',
    },
  ],
};
