import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/**
 * X10 to X14. Standard: a PATCH changes what it names. Supermicro: fields of Boot that are not sent go back to their
 * defaults, so that an override without its mode turns a UEFI machine to Legacy. Where the mode is no property of the BMC (X10),
 * it is not sent either: only what was read is.
 */
export const supermicro: Vendor = {
  ...generic,
  name: 'supermicro',
  matches: (facts) => names(facts, 'supermicro', 'super micro'),
  eventLogs: ['Log1'],
  console: { commands: ['cd system1/sol1', 'start'] },
  bootFields: 'all',
  targets: { cd: ['UsbCd'] },
  quirks: [
    {
      device: 'Supermicro',
      does: 'resets boot fields that are not sent, the mode to Legacy',
      knownFrom: 'DMTF/Redfishtool PR 106, OpenStack story 2008547',
      remedy: 'sends all fields at once',
      shownBy: 'Supermicro is sent all fields at once',
    },
    {
      device: 'Supermicro, AMI',
      does: '200 and only the target is kept',
      knownFrom: 'bmc-toolbox/bmclib PR 459',
      remedy: 'reads back, sends all once more, then `not-stored`',
      shownBy: 'only the target is kept: sent again with all fields, then a named error with both',
    },
    {
      device: 'Supermicro X10',
      does: 'has no boot mode and refuses it',
      knownFrom: 'ironcore-dev/metal-operator issue 982',
      remedy: 'sends the mode only where one is shown',
      shownBy: 'R20: a mode that the machine does not show is not sent (Supermicro X10)',
    },
    {
      device: 'Supermicro',
      does: 'does not boot virtual media by `Cd`, but by `UsbCd`',
      knownFrom: 'sushy (`BootSource.USB_CD`)',
      remedy: 'uses `UsbCd` where it is offered',
      shownBy: 'Supermicro boots virtual media as UsbCd where it offers that',
    },
    {
      device: 'Supermicro',
      does: 'reset types only in ActionInfo',
      knownFrom: 'DMTF/Redfishtool issue 23',
      remedy: 'asks there',
      shownBy: 'in the ActionInfo (Supermicro, BlueField)',
    },
    {
      device: 'Supermicro X11, X12',
      does: 'refuses Inserted and WriteProtected with an image',
      knownFrom: 'sushy note fix-insert-media-payload, openshift/ironic-image PR 236',
      remedy: 'sends the URL alone, and leaves out what is refused',
      shownBy: 'what is refused is left out (Supermicro X11, X12: Inserted)',
    },
    {
      device: 'Supermicro',
      does: '403 without a license, and falls over under polling',
      knownFrom: 'metal3-io/ironic-image issue 688',
      remedy: 'reason `license`; two reads and one write at a time',
      shownBy: 'R24: what needs a license is told as that',
    },
    {
      device: 'Supermicro',
      does: 'the system’s log tells of the hardware, the manager’s of the BMC alone',
      knownFrom: 'Linuxfabrik/monitoring-plugins PR 866',
      remedy: 'reads the system’s `Log1`',
      shownBy: 'the log %s of %s is the one that is read',
    },
    {
      device: 'X11 and later',
      does: 'writes two commands into ConsoleEntryCommand (`cd system1/sol1; start`), of which its shell takes one at a time; only Enter, Esc, T leaves the port',
      knownFrom: 'stmcginnis/gofish oem/smc/computersystem_test.go, metal-stack/go-hal README',
      remedy:
        'types one after the other; ends the connection at the end, since Enter would go to the machine',
      shownBy: 'Supermicro writes two commands in one: they are typed one after the other',
    },
  ],
};
