import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/**
 * iLO 5, 6, 7. Standard: any writable fields of Boot may be sent together. HP DL160: a PATCH with more than the fields that
 * change is refused, which is the opposite of Supermicro: the least first, whatever the default above becomes.
 */
export const hpe: Vendor = {
  ...generic,
  name: 'hpe',
  matches: (facts) => names(facts, 'hpe', 'hewlett'),
  eventLogs: ['IML'],
  console: { commands: ['vsp'], free: ['stop /system1/oemhp_vsp1'], leave: '\x1b(' },
  bootFields: 'least',
  quirks: [
    {
      device: 'iLO',
      does: 'refuses changes while the firmware is in POST',
      knownFrom: 'ironcore-dev/metal-operator issue 997, ironic bug 2136275',
      remedy: 'waits for the end of POST, at most two minutes',
      shownBy: 'R16: in POST it is tried again until POST ends, a bounded time',
    },
    {
      device: 'HP DL160',
      does: 'refuses a PATCH with more boot fields than needed',
      knownFrom: 'bmc-toolbox/bmclib PR 318',
      remedy: 'sends the least first',
      shownBy: 'R22: too many fields are refused: the least is sent',
    },
    {
      device: 'ProLiant',
      does: 'has a boot mode that is not writable, even as it is',
      knownFrom: 'ansible-collections/community.general issue 3509',
      remedy: 'does not send the mode unless asked',
      shownBy: '%s (persistent: %s) is sent as %s, %s and nothing more',
    },
    {
      device: 'iLO',
      does: 'refuses Disabled together with None',
      knownFrom: 'ironcore-dev/metal-operator PR 998',
      remedy: 'keeps the target when an override is taken back',
      shownBy: 'R19: the target stays as it was, since iLO refuses Disabled with None',
    },
    {
      device: 'iLO',
      does: '415 to an eject without a body',
      knownFrom: 'sushy note fix-eject-media-empty-dict',
      remedy: 'always sends one',
      shownBy: 'another image is taken out first',
    },
    {
      device: 'iLO',
      does: '400 InvalidOperationForSystemState to a reset of a machine that is off',
      knownFrom: 'goldyfruit/ansible-ilo issue 1',
      remedy: 'reads the state first: `cycle` switches on, `reset` says that the machine is off',
      shownBy: 'cycle of a machine that is off switches it on',
    },
    {
      device: 'iLO',
      does: 'has no SEL by Redfish',
      knownFrom: 'HewlettPackard/python-ilorest-library issue 173',
      remedy: 'reads the `IML`',
      shownBy: 'the log %s of %s is the one that is read',
    },
    {
      device: 'iLO 5, 6',
      does: 'posts an event again until it is answered 200; 204 is none',
      knownFrom: 'DMTF/Redfish-Event-Listener issue 30',
      remedy: 'the site answers 200',
      shownBy: 'an event with its token is taken, with 200',
    },
    {
      device: 'iLO',
      does: 'posts to the destination with a trailing slash',
      knownFrom: 'ironcore-dev/metal-operator PR 755',
      remedy: 'the site takes both',
      shownBy: 'an event with its token is taken, with 200',
    },
    {
      device: 'iLO',
      does: 'has the serial port behind the command `vsp` of its SSH, until ESC (; whoever left without them has it still',
      knownFrom: 'NVIDIA/infra-controller ssh-console vendor.rs, operators’ transcripts of iLO 3 and 4',
      remedy: 'types it, and ESC ( at the end; `stop /system1/oemhp_vsp1` before it with --force',
      shownBy: 'what a BMC does not tell of its serial console is known of its vendor: %s',
    },
  ],
};
