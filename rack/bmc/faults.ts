import { redfishError } from './errors.ts';
import type { FaultRule } from './faultRule.ts';
import { accountPath } from './paths.ts';
import { type ShapeName, shapes } from './shapes.ts';

/** A way in which real BMCs misbehave, switched on by name. */
interface NamedFault {
  summary: string;
  rules: readonly FaultRule[];
}

const system = '/redfish/v1/Systems/1';
const sessions = '/redfish/v1/SessionService/Sessions';
const events = '/redfish/v1/EventService';
const sse = `${events}/SSE`;

/** An answer of a BMC that is just starting or has too much to do. */
const unavailable = redfishError(503, 'ServiceTemporarilyUnavailable', { args: ['2'] });

const own = {
  slow: { summary: 'every answer takes a second longer', rules: [{ delayMs: 1000 }] },
  '503-once': {
    summary: 'the first request is answered 503, as by a BMC that starts',
    rules: [{ ...unavailable, count: 1 }],
  },
  flaky: {
    summary:
      'of a hundred requests, 10 are answered 503, late, or not at all because the connection breaks, some of them after the BMC has acted',
    rules: [
      { share: 0.04, ...unavailable },
      { share: 0.02, delayMs: 1500 },
      { share: 0.02, cut: 'before' },
      { share: 0.01, cut: 'after' },
      { share: 0.01, cut: 'middle' },
    ],
  },
  'accept-but-ignore-boot-override': {
    summary: 'a boot override is answered with success and not stored',
    rules: [{ method: 'PATCH', path: system, stores: 'nothing' }],
  },
  'override-target-only': {
    summary: 'of a boot override only the target is stored; Enabled stays Disabled',
    rules: [{ method: 'PATCH', path: system, stores: 'target' }],
  },
  'no-allowable-values': {
    summary: 'the system does not say which boot targets it knows',
    rules: [{ method: 'GET', path: system, merge: { Boot: noAllowableValues() } }],
  },
  'no-virtual-media': {
    summary: 'the BMC has no virtual drive',
    rules: [{ method: 'GET', path: system, merge: { VirtualMedia: null } }],
  },
  'factory-password': {
    summary: 'nothing is done before the password was changed; switched on as long as the BMC starts',
    // It spoils no request: the BMC itself is made so (`rack/bmc/account.ts`).
    rules: [{ method: 'PATCH', path: accountPath }],
  },
  'accept-but-ignore-password': {
    summary: 'a new password is answered with success and not stored',
    rules: [{ method: 'PATCH', path: accountPath, stores: 'nothing' }],
  },
  'refuse-password': {
    summary: 'no new password fits the rules of the BMC, which it does not tell',
    rules: [
      {
        method: 'PATCH',
        path: accountPath,
        ...redfishError(400, 'PropertyValueFormatError', { properties: ['Password'] }),
      },
    ],
  },
  'sessions-exhausted': {
    summary: 'every login is refused for too many sessions',
    rules: [{ method: 'POST', path: sessions, ...redfishError(503, 'SessionLimitExceeded') }],
  },
  'no-event-service': {
    summary: 'the BMC tells of nothing by itself',
    rules: [{ method: 'GET', path: '/redfish/v1', merge: { EventService: null } }],
  },
  'no-event-stream': {
    summary: 'the BMC posts events and has no stream of them',
    rules: [{ method: 'GET', path: events, merge: { ServerSentEventUri: null } }],
  },
  'stream-cut': {
    summary: 'the stream of events breaks after each event',
    rules: [{ method: 'GET', path: sse, stream: 'cut' }],
  },
  'stream-silent': {
    summary: 'the stream of events is opened, and nothing ever comes',
    rules: [{ method: 'GET', path: sse, stream: 'silent' }],
  },
  'stream-garbage': {
    summary: 'nonsense comes between the events of the stream',
    rules: [{ method: 'GET', path: sse, stream: 'garbage' }],
  },
  'subscriptions-full': {
    summary: 'every subscription is refused for too many of them',
    rules: [
      {
        method: 'POST',
        path: `${events}/Subscriptions`,
        ...redfishError(503, 'EventSubscriptionLimitExceeded'),
      },
    ],
  },
} as const satisfies Record<string, NamedFault>;

function noAllowableValues(): Record<string, null> {
  const fields = ['BootSourceOverrideTarget', 'BootSourceOverrideEnabled', 'BootSourceOverrideMode'];
  return Object.fromEntries(fields.map((field) => [`${field}@Redfish.AllowableValues`, null]));
}

export type FaultName = keyof typeof own | ShapeName;
const faults: Record<FaultName, NamedFault> = { ...own, ...shapes };
export const faultNames = Object.keys(faults) as FaultName[];

export function isFaultName(name: unknown): name is FaultName {
  return faultNames.some((known) => known === name);
}

export function faultRules(name: FaultName): readonly FaultRule[] {
  return faults[name].rules;
}

/** The rows of `docs/rack.md`: every fault, and what the BMC does. */
export function faultTable(): string {
  const rows = Object.entries(faults).map(([name, { summary }]) => `| \`${name}\` | ${summary} |`);
  return ['| fault | what the BMC does |', '| --- | --- |', ...rows].join('\n');
}
