import { generic } from './generic.ts';
import { names, type Vendor } from './vendor.ts';

/**
 * iDRAC 8, 9, 10. Standard: `Cd` is a CD drive, virtual ones included. iDRAC: `Cd` is the physical drive; virtual media boots
 * by attributes of Dell's own, so `Cd` would boot the wrong thing.
 */
export const dell: Vendor = {
  ...generic,
  name: 'dell',
  matches: (facts) => names(facts, 'dell'),
  eventLogs: ['Sel'],
  streamFilter: 'EventFormatType eq Event',
  streamRestMs: 25_000,
  console: { commands: ['console com2'], otherwise: ['connect com2'], leave: '\x1c' },
  cdAttributes: ({ persistent }) => ({
    'ServerBoot.1.FirstBootDevice': 'VCD-DVD',
    'ServerBoot.1.BootOnce': persistent ? 'Disabled' : 'Enabled',
  }),
  quirks: [
    {
      device: 'iDRAC8, iDRAC9',
      does: 'has its accounts under the manager, in 16 fixed slots',
      knownFrom: 'dell/iDRAC-Redfish-Scripting PR 385',
      remedy: 'follows the links of the account service and takes the slot of our name',
      shownBy: 'where its accounts are under the manager, in fixed slots',
    },
    {
      device: 'iDRAC',
      does: 'ends a session with the password that it was opened by',
      knownFrom: 'dell/iDRAC-Redfish-Scripting (`ChangeIdracUserPasswordREDFISH`)',
      remedy: 'logs in anew after a change of the password, which proves that too',
      shownBy: 'a session that ends with the password that it was opened by is followed by another one',
    },
    {
      device: 'iDRAC9',
      does: 'refuses everything by SWC1908 before its default password was changed',
      knownFrom: 'dell/iDRAC-Redfish-Scripting issue 346',
      remedy: '`password-change-required`; a change that it refuses as well must be made at the iDRAC',
      shownBy: 'an iDRAC that wants its default password changed (SWC1908) is told of as such',
    },
    {
      device: 'iDRAC10',
      does: 'lists the boot targets only on the settings resource',
      knownFrom: 'dell/iDRAC-Redfish-Scripting issue 324',
      remedy: 'looks there too; an absent or empty list is "unknown", and is tried',
      shownBy: 'only on its settings (iDRAC10)',
    },
    {
      device: 'iDRAC10',
      does: 'has Boot read-only on the system',
      knownFrom: 'stmcginnis/gofish PR 511',
      remedy: 'writes the settings resource when it is told so',
      shownBy: 'iDRAC10 has Boot read-only on the system: the settings object is written',
    },
    {
      device: 'iDRAC',
      does: 'boot device `Cd` is the physical drive',
      knownFrom: 'dell/iDRAC-Redfish-Scripting issue 90, dell/terraform-provider-redfish issue 332',
      remedy:
        'sets `ServerBoot.1` (VCD-DVD, BootOnce) of the manager’s attributes and reads it back; refuses `cd` where they are missing',
      shownBy: 'R21: Cd on iDRAC is the physical drive, so virtual media is booted by its own attributes',
    },
    {
      device: 'iDRAC10',
      does: '`On` conflicts (409) for a while after off',
      knownFrom: 'ironic bug 2162995',
      remedy: 'reads the state, then tries again until the deadline',
      shownBy: 'On that conflicts shortly after off (iDRAC10) is tried again',
    },
    {
      device: 'iDRAC',
      does: 'answers 409 PSU501 to what is so already',
      knownFrom: 'dell/dellemc-openmanage-ansible-modules issue 132',
      remedy: 'reads the state: there is success',
      shownBy: 'a refusal because it is there already (PSU501) is success',
    },
    {
      device: 'iDRAC',
      does: 'first PATCH 412, second works',
      knownFrom: 'dell/iDRAC-Redfish-Scripting issue 354',
      remedy: 'reads the entity tag again, at most four writes',
      shownBy: 'a tag that changed between reading and writing (iDRAC) is read anew',
    },
    {
      device: 'iDRAC',
      does: '8 sessions, then 503 RAC0218',
      knownFrom: 'bb-Ricardo/check_redfish PR 198, stmcginnis/gofish issue 75',
      remedy: 'one session per BMC, ended at the close; Basic for five minutes when there is none',
      shownBy: 'R9: when all sessions are taken (iDRAC RAC0218)',
    },
    {
      device: 'iDRAC9, iDRAC10',
      does: 'virtual drives 1 and 2 under the system, none called CD',
      knownFrom: 'dell/terraform-provider-redfish issue 331',
      remedy: 'follows links and the media types',
      shownBy: 'under the manager that the system links to, by another name',
    },
    {
      device: 'iDRAC',
      does: 'its SEL is a manager’s log, the newest entry first; the Lclog beside it has all else too',
      knownFrom: 'bb-Ricardo/check_redfish issue 4, dell/iDRAC-Redfish-Scripting issue 353',
      remedy: 'reads `Sel`, as far back as something known comes',
      shownBy: 'the log %s of %s is the one that is read',
    },
    {
      device: 'iDRAC 7, 8',
      does: '`SensorType` of a log entry is a list of objects',
      knownFrom: 'mrlhansen/idrac_exporter issue 26',
      remedy: 'takes the first',
      shownBy: 'a sensor type that is a list (iDRAC 8) is read',
    },
    {
      device: 'iDRAC9',
      does: 'its stream takes `EventFormatType eq Event`, without quotes, and sends metric reports without a filter',
      knownFrom:
        'Dell’s white paper on iDRAC alerts by Redfish, Dell’s iDRAC9 Redfish guide 4.20 (Server-Sent Events)',
      remedy: 'asks so; metric reports are no news',
      shownBy: 'a stream is asked for with the filter %s of %s',
    },
    {
      device: 'iDRAC9',
      does: 'wants 20 to 30 seconds between two streams, has two at a time, and ends one that says nothing for an hour',
      knownFrom: 'Dell’s iDRAC9 Redfish guide 4.20 (Server-Sent Events), Dell’s telemetry guide',
      remedy: 'one stream, 25 seconds between two, and a look at the machine after each',
      shownBy: 'a stream is asked for with the filter %s of %s',
    },
    {
      device: 'iDRAC',
      does: 'switches a subscription off (`Status.State` Disabled) when its events were not taken three times',
      knownFrom: 'dell/iDRAC-Redfish-Scripting issue 370',
      remedy: 'looks at its subscription with each round, and makes it anew',
      shownBy: 'a subscription that the BMC switched off (iDRAC) is made anew',
    },
    {
      device: 'iDRAC',
      does: 'tells nothing in SerialConsole; its SSH takes the password only as keyboard-interactive, and `console com2` (before: `connect com2`) leads to the serial port until Ctrl-\\',
      knownFrom: 'metal-stack/go-hal README, NVIDIA/infra-controller ssh-console vendor.rs',
      remedy: 'types it at the prompt; keeps Ctrl-\\ from operators’ keys and types it at the end',
      shownBy: 'what a BMC does not tell of its serial console is known of its vendor: %s',
    },
  ],
};
