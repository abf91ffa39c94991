import type { Vendor } from './vendor.ts';

/**
 * What the standard says (DSP0266, DSP2046 ComputerSystem), for every BMC without a file of its own. Its quirks may be any BMC's, so they are
 * dealt with for all.
 */
export const generic: Vendor = {
  name: 'generic',
  matches: () => true,
  bootFields: 'least',
  targets: {},
  insertFields: [],
  gpusOnBaseboard: false,
  eventLogs: [],
  streamFilter: "EventFormatType eq 'Event'",
  streamRestMs: 0,
  quirks: [
    {
      device: 'OpenBMC of IBM and others, new',
      does: 'answer 403 PasswordChangeRequired to everything but a change of the factory password',
      knownFrom: 'DMTF/Redfishtool issue 107, openbmc/bmcweb issue 103, xcat2/xcat-core PR 6511',
      remedy: '`password-change-required`; finds the account by the link in that message',
      shownBy: 'where the BMC does nothing before that, by the link in its message',
    },
    {
      device: 'some BMCs',
      does: 'demand the boot mode',
      knownFrom: 'ansible-collections/community.general issue 11542',
      remedy: 'adds it when asked',
      shownBy: 'R20: the mode that is demanded is added',
    },
    {
      device: 'Gigabyte and others',
      does: 'weak, doubly quoted or empty entity tags',
      knownFrom: 'ansible-collections/community.general PRs 3268, 6434',
      remedy:
        'as given, then loosened, then `*`; an empty one is none; what worked comes first the next time',
      shownBy: 'the form that worked is used first the next time',
    },
    {
      device: 'Huawei',
      does: '412 without If-Match, and a system that links to no manager',
      knownFrom: 'ansible/ansible issue 60031, sushy note retry-on-missing-managedby',
      remedy: 'sends the tag it read; looks through the managers',
      shownBy: 'under the managers alone, where the system links to none',
    },
    {
      device: 'Cisco',
      does: 'has virtual drives without InsertMedia, which answer 405',
      knownFrom: 'sushy note cisco-c845a-vmedia-fix',
      remedy: 'takes the drive that has the action',
      shownBy:
        'the drive that takes discs and has the action is chosen: DVD alone will do, a floppy will not',
    },
    {
      device: 'Nokia',
      does: 'demands TransferProtocolType',
      knownFrom: 'sushy note retry-if-transferprototype-missing',
      remedy: 'adds what is demanded, and remembers it',
      shownBy: 'what was demanded once is sent at once the next time',
    },
    {
      device: 'several',
      does: 'demand user name and password of an image, in the messages alone',
      knownFrom: 'sushy note insertmedia-credentials-detection',
      remedy: 'sends a name and a password that nobody has',
      shownBy: 'what a BMC demands (%j) is added, one answer at a time',
    },
    {
      device: 'several',
      does: 'a login that names no session',
      knownFrom: 'DMTF/python-redfish-library issue 172',
      remedy: 'takes the body’s link, else Basic, so that one session leaks and no second one',
      shownBy: 'R18: when the BMC names no session that could be ended; only one leaks',
    },
    {
      device: 'several',
      does: '202 with a task that fails, ends in 404 or is not named',
      knownFrom: 'DMTF/Redfishtool issue 55, ansible-collections/community.general issue 6608',
      remedy: 'follows it; then looks at the effect',
      shownBy: 'a task that fails is a failure with its message',
    },
    {
      device: 'several',
      does: 'unescaped quotes in `@odata.etag`, byte order marks, empty bodies',
      knownFrom: 'DMTF/python-redfish-library issue 107, DMTF/Redfish-Protocol-Validator issue 76',
      remedy: 'reads what can be read',
      shownBy: 'JSON with %s is read',
    },
    {
      device: 'several',
      does: '503 for a while after a start or under load, also of what they then do',
      knownFrom: 'xcat2/xcat-core issues 3310, 4264',
      remedy: 'reads again; an action only once the state shows that it was not done',
      shownBy: 'is not sent twice when the state shows that it was carried out',
    },
    {
      device: 'HPE, GB200',
      does: 'an occasional 401 to good credentials',
      knownFrom: 'dsx-ai-factory/infra-controller PR 5349',
      remedy: 'bears one; two in a row end it, and nothing is sent for five minutes',
      shownBy: 'R23: one 401 to good credentials is borne',
    },
    {
      device: 'old ones',
      does: 'TLS 1.0, RSA key exchange, weak ciphers and certificates',
      knownFrom:
        'ansible-collections/community.general issue 8555, mrlhansen/idrac_exporter PR 205, markusdd/ilo-utils issue 5',
      remedy: 'refused; `oldTls` opens it for that one BMC, under its pin',
      shownBy: 'is spoken with the one BMC that was allowed it, under its pin (%s)',
    },
    {
      device: 'sushy-tools (fake driver)',
      does: 'answers 204 to Once and keeps Continuous',
      knownFrom: 'seen (`npm run e2e -- sushy`)',
      remedy: '`not-stored`',
      shownBy: 'Once that becomes Continuous (sushy-tools answers 204) is not stored',
    },
    {
      device: 'several',
      does: 'call the hardware’s event log as they like: `SEL`, `Sel`, `Log1`, `ActiveLog`',
      knownFrom: 'DMTF/Redfish-Tacklebox issue 176',
      remedy: 'by the vendor’s name for it, else by `LogEntryType`, else by the usual names',
      shownBy: 'the log %s of %s is the one that is read',
    },
    {
      device: 'several',
      does: 'use the numbers of log entries again once the log was cleared, and write them with a clock that lost its battery',
      knownFrom: 'bb-Ricardo/check_redfish issue 4 (iDRAC), seen (`ipmi_sim`)',
      remedy: 'knows an entry by all that it says, neither by its number nor by its time',
      shownBy: 'a log that was cleared tells its new entries, though they have the numbers of old ones',
    },
    {
      device: 'several',
      does: 'refuse `EventTypes`, which is out of date, or demand it',
      knownFrom:
        'stmcginnis/gofish PR 241, DMTF/Redfish-Event-Listener issue 10, DMTF/Redfish-Tacklebox PR 60',
      remedy: 'sends it to those who know nothing newer; leaves out what is unknown, adds what is demanded',
      shownBy: 'the least is sent, what is unknown is left out and what is demanded is added (%s)',
    },
    {
      device: 'a compromised one',
      does: 'sends an event that never ends',
      knownFrom: 'dsx-ai-factory/nv-redfish PR 167',
      remedy: 'passes over what is longer than 256 KiB',
      shownBy: 'an event that does not end is passed over, and the next one is read',
    },
  ],
};
