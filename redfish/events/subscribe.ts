import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import { memberLinks } from '../collection.ts';
import { asObject, asText, asTexts, type JsonObject, linkOf } from '../json.ts';
import { says, saysOf } from '../messages.ts';

/** Where a BMC is to post its events. */
export interface Hook {
  /** The URL, another for each BMC. */
  destination: string;
  /** What all URLs of this site begin with: by it subscriptions of ours are found again. */
  prefix: string;
  /** What the BMC sends back with each event. */
  context: string;
}

/** More subscriptions than any BMC keeps. */
const mostSubscriptions = 64;
const mostTries = 5;

/**
 * Sees to it that a BMC has one subscription for this hook, and no other of this site: what is there is kept, what is left of an earlier life, or
 * was switched off by the BMC because nobody took its events (iDRAC), is deleted.
 * @throws RailheadError DRIVER_ERROR, reason `subscriptions-full`; BmcRefusal and as `RedfishClient.get`
 */
export async function subscribe(
  client: RedfishClient,
  service: JsonObject,
  hook: Hook,
): Promise<'kept' | 'made' | 'unsupported'> {
  const list = linkOf(service.Subscriptions);
  if (list === undefined) return 'unsupported';
  let kept = false;
  for (const { path, body } of await ours(client, list, hook.prefix)) {
    const isGood = body.Destination === hook.destination && asObject(body.Status).State !== 'Disabled';
    if (isGood && !kept) kept = true;
    else await client.delete(path);
  }
  if (kept) return 'kept';
  await make(client, list, service, hook);
  return 'made';
}

/** Deletes what a BMC has of this site's subscriptions. @throws as `subscribe` */
export async function unsubscribe(client: RedfishClient, service: JsonObject, prefix: string): Promise<void> {
  const list = linkOf(service.Subscriptions);
  if (list === undefined) return;
  for (const { path } of await ours(client, list, prefix)) await client.delete(path);
}

async function ours(client: RedfishClient, list: string, prefix: string) {
  const links = (await memberLinks(client, list)).slice(0, mostSubscriptions);
  const found: { path: string; body: JsonObject }[] = [];
  for (const link of links) {
    // Streams are among them on some, and end while we read.
    const subscription = await client.get(link).catch(undefinedWhenGone);
    if (subscription !== undefined && asText(subscription.body.Destination)?.startsWith(prefix))
      found.push(subscription);
  }
  return found;
}

function undefinedWhenGone(error: unknown): undefined {
  if (!(error instanceof BmcRefusal) || error.answer.status !== 404) throw error;
  return undefined;
}

/** The least that the standard asks for; what a BMC demands beside it is added, and what it does not know is left out. */
async function make(
  client: RedfishClient,
  list: string,
  service: JsonObject,
  { destination, context }: Hook,
): Promise<void> {
  let body: JsonObject = {
    Destination: destination,
    Context: context,
    Protocol: 'Redfish',
    ...chosen(service),
  };
  for (let tries = 1; ; tries++) {
    try {
      await client.post(list, body);
      return;
    } catch (error) {
      if (!(error instanceof BmcRefusal)) throw error;
      if (isFull(error)) throw tableFull(error);
      const next = tries < mostTries ? corrected(body, error, service) : undefined;
      if (next === undefined) throw error;
      body = next;
    }
  }
}

/** `EventTypes` is out of date since EventService 1.3: it goes only to those who know nothing newer. */
function chosen(service: JsonObject): JsonObject {
  const isOld = [service.EventFormatTypes, service.RegistryPrefixes, service.ResourceTypes].every(
    (value) => value === undefined,
  );
  if (isOld) return { EventTypes: eventTypes(service) };
  return Array.isArray(service.EventFormatTypes) ? { EventFormatType: 'Event' } : {};
}

const usualTypes = ['StatusChange', 'ResourceUpdated', 'ResourceAdded', 'ResourceRemoved', 'Alert'];

function eventTypes({ EventTypesForSubscription }: JsonObject): string[] {
  const known = asTexts(EventTypesForSubscription).filter((type) => usualTypes.includes(type));
  return known.length > 0 ? known : usualTypes;
}

/** What BMCs demand of a subscription, and what they are given then. */
function demanded(service: JsonObject): JsonObject {
  return {
    EventTypes: eventTypes(service),
    EventFormatType: 'Event',
    SubscriptionType: 'RedfishEvent',
    HttpHeaders: [],
    DeliveryRetryPolicy: 'RetryForever',
  };
}

function corrected(body: JsonObject, { messages }: BmcRefusal, service: JsonObject): JsonObject | undefined {
  const unknown = [
    'PropertyUnknown',
    'PropertyNotWritable',
    'PropertyValueNotInList',
    'PropertyNotSupported',
  ];
  const tooMuch = [
    'EventTypes',
    'EventFormatType',
    'SubscriptionType',
    'HttpHeaders',
    'DeliveryRetryPolicy',
  ].find((name) => name in body && saysOf(messages, name, ...unknown));
  if (tooMuch !== undefined) {
    const { [tooMuch]: _, ...left } = body;
    return left;
  }
  const missing = ['PropertyMissing', 'CreateFailedMissingReqProperties', 'ActionParameterMissing'];
  const add = Object.entries(demanded(service)).find(
    ([name]) => !(name in body) && saysOf(messages, name, ...missing),
  );
  return add && { ...body, [add[0]]: add[1] };
}

const fullMessages = [
  'EventSubscriptionLimitExceeded',
  'CreateLimitReachedForResource',
  'SubscriptionLimitExceeded',
];

function isFull({ messages }: BmcRefusal): boolean {
  return (
    says(messages, ...fullMessages) ||
    messages.some(({ text }) => /maximum|limit/i.test(text) && /subscription/i.test(text))
  );
}

function tableFull(cause: BmcRefusal): RailheadError {
  const message = 'the BMC takes no more subscriptions to its events: delete one there that nobody uses';
  return new RailheadError('DRIVER_ERROR', message, { reason: 'subscriptions-full' }, cause);
}
