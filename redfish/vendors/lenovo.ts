import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/** XCC, and the ThinkSystems with AMD's processors, whose BMC is AMI's. All that they want they say in their refusals. */
export const lenovo: Vendor = {
  ...generic,
  name: 'lenovo',
  matches: (facts) => names(facts, 'lenovo'),
  eventLogs: ['StandardLog', 'PlatformLog', 'ActiveLog'],
  console: {
    commands: ['console 1'],
    otherwise: ['console start'],
    free: ['console kill 1'],
    leave: '\x1b(',
  },
  quirks: [
    {
      device: 'Lenovo ThinkSystem',
      does: 'changes no account without If-Match (428)',
      knownFrom: 'ansible/ansible issue 56050',
      remedy: 'sends the tag that it read',
      shownBy: 'by the tag that it was read with, which may be demanded, and used from then on',
    },
    {
      device: 'Lenovo XCC',
      does: '428 or 412 without the right If-Match',
      knownFrom: 'ansible/ansible PR 56150, ansible-collections/community.general issue 11261',
      remedy: 'sends the tag it read',
      shownBy: 'strong in the header, demanded (Lenovo)',
    },
    {
      device: 'Lenovo SR655',
      does: '`Ami.1.0.PreconditionHeaderMissing` without If-Match',
      knownFrom: 'stmcginnis/gofish issue 171',
      remedy: 'sends the tag it read, else `*`',
      shownBy: 'none, though one is demanded',
    },
    {
      device: 'Lenovo SD530',
      does: 'virtual drives without actions',
      knownFrom: 'sushy note fix-virtual-media-fallback',
      remedy: 'uses PATCH where there is no action',
      shownBy: 'a drive without actions is changed by PATCH, both ways',
    },
    {
      device: 'Lenovo XCC',
      does: 'virtual media under the manager on some, under the system on others',
      knownFrom: 'lenovo/python-redfish-lenovo PR 251',
      remedy: 'follows links, the system’s first',
      shownBy: 'a link of the system that leads nowhere is passed over',
    },
    {
      device: 'Lenovo XCC',
      does: 'its log is `StandardLog`, `PlatformLog` since V2; `ActiveLog` has only what is wrong now',
      knownFrom: 'bb-Ricardo/check_redfish issue 77',
      remedy: 'reads the first of them that is there',
      shownBy: 'the log %s of %s is the one that is read',
    },
    {
      device: 'XCC',
      does: 'has the serial port behind `console 1`, newer ones behind `console start`, until ESC (; some have it by IPMI alone',
      knownFrom: 'NVIDIA/infra-controller ssh-console vendor.rs, dsx-ai-factory/infra-controller issue 528',
      remedy: 'types the one, then the other, then asks by IPMI',
      shownBy: 'what a BMC does not tell of its serial console is known of its vendor: %s',
    },
  ],
};
