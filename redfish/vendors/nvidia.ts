import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/** DGX, HGX and Grace trays, BlueField: the host's BMC, and that of the GPUs' baseboard (HMC) seen through it. */
export const nvidia: Vendor = {
  ...generic,
  name: 'nvidia',
  matches: (facts) => names(facts, 'nvidia'),
  gpusOnBaseboard: true,
  quirks: [
    {
      device: 'NVIDIA DGX, HGX',
      does: 'the GPUs’ baseboard is a second system, first in the list, and 503 while the machine is off',
      knownFrom: 'dsx-ai-factory/libredfish PRs 124, 134, dsx-ai-factory/infra-controller issue 5418',
      remedy:
        'leaves systems called `HGX_…` alone, except for their GPUs, which are only looked for while the machine is on',
      shownBy: 'the GPUs of a baseboard that is a second system are found there, while the machine is on',
    },
    {
      device: 'NVIDIA BlueField',
      does: 'reset types only in ActionInfo',
      knownFrom: 'stmcginnis/gofish PR 345',
      remedy: 'asks there',
      shownBy: 'in the ActionInfo (Supermicro, BlueField)',
    },
    {
      device: 'GB200',
      does: 'its streamed events have neither MemberId nor EventType',
      knownFrom: 'dsx-ai-factory/nv-redfish PR 193',
      remedy: 'needs neither: an event is a hint',
      shownBy: '%j is worth a look: %s',
    },
  ],
};
