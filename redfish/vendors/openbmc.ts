import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/** OpenBMC's bmcweb, where no board maker gives it another name. */
export const openbmc: Vendor = {
  ...generic,
  name: 'openbmc',
  matches: (facts) => names(facts, 'openbmc'),
  eventLogs: ['SEL', 'EventLog'],
  quirks: [
    {
      device: 'OpenBMC',
      does: 'answers 500 to a password that its rules refuse, which its lengths do not tell',
      knownFrom: 'openbmc/bmcweb issues 67, 90',
      remedy: 'logs in by both to find out; the new password is varied enough for them',
      shownBy: 'rules that are told by 500',
    },
    {
      device: 'OpenBMC',
      does: 'a login without Location',
      knownFrom: 'openbmc/openbmc issue 3353',
      remedy: 'takes the body’s link',
      shownBy: 'R18: a session that is named %s is ended at the close',
    },
    {
      device: 'OpenBMC',
      does: 'PoweringOn and PoweringOff for minutes',
      knownFrom: 'ibm-openbmc/dev issue 2619',
      remedy: 'takes them as "not yet"',
      shownBy: 'PoweringOn is not yet on',
    },
    {
      device: 'OpenBMC',
      does: 'reset types only in ActionInfo',
      knownFrom: 'openbmc/bmcweb PR 266',
      remedy: 'asks there',
      shownBy: 'in the ActionInfo (Supermicro, BlueField)',
    },
    {
      device: 'OpenBMC of IBM',
      does: 'has no boot override at all',
      knownFrom: 'ibm-openbmc/bmcweb PR 939',
      remedy: 'sends it all the same, and says `not-stored` where it is not kept',
      shownBy: 'a BMC without any boot override keeps none, and that is told',
    },
    {
      device: 'OpenBMC',
      does: 'refuses subscriptions whose destination is plain HTTP',
      knownFrom: 'openbmc/bmcweb issue 165',
      remedy: 'the site listens with TLS',
      shownBy: 'the least is sent, what is unknown is left out and what is demanded is added (%s)',
    },
    {
      device: 'OpenBMC',
      does: 'has the context in each record of an event',
      knownFrom: 'ibm-openbmc/openbmc PR 198',
      remedy: 'reads it there too',
      shownBy: 'the contexts of %j are %j',
    },
    {
      device: 'OpenBMC',
      does: 'has the serial port itself at SSH port 2200, with no command line before it',
      knownFrom: 'openbmc/bmcweb redfish-core/lib/systems.hpp, NVIDIA IGX BMC guide (UART access)',
      remedy: 'types nothing there; ends the connection and nothing else',
      shownBy: 'OpenBMC has the serial port itself at port 2200',
    },
  ],
};
