import type { FastifyInstance } from 'fastify';
import { collection } from './collection.ts';
import { RedfishError } from './errors.ts';
import type { Subscription } from './eventHub.ts';
import type { BmcParts } from './server.ts';
import { rulesFor } from './spoil.ts';

const service = '/redfish/v1/EventService';
const list = `${service}/Subscriptions`;
const sse = `${service}/SSE`;
const testEvent = `${service}/Actions/EventService.SubmitTestEvent`;
/** `EventTypes` is not among them: it is out of date since EventService 1.3. */
const known = [
  'Destination',
  'Context',
  'Protocol',
  'EventFormatType',
  'RegistryPrefixes',
  'ResourceTypes',
  'SubscriptionType',
];

/** The event service: a stream for each who asks for one, and posts to those who subscribe. */
export function eventRoutes(app: FastifyInstance, { events }: BmcParts): void {
  app.addHook('onClose', async () => events.close());
  // Before connections are waited for: a stream has no end of its own.
  app.addHook('preClose', async () => events.close());
  app.get(service, () => ({
    '@odata.id': service,
    '@odata.type': '#EventService.v1_10_0.EventService',
    Id: 'EventService',
    Name: 'Event Service',
    ServiceEnabled: true,
    EventFormatTypes: ['Event'],
    RegistryPrefixes: ['Base', 'ResourceEvent', 'EventLog'],
    SSEFilterPropertiesSupported: { EventFormatType: true },
    ServerSentEventUri: sse,
    Subscriptions: { '@odata.id': list },
    Actions: { '#EventService.SubmitTestEvent': { target: testEvent } },
  }));
  app.get(sse, (request, reply) => {
    const fault = rulesFor(request).find(({ stream }) => stream !== undefined)?.stream;
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    reply.raw.flushHeaders();
    if (!events.stream(reply.raw, fault)) reply.raw.destroy();
  });
  app.get(list, () =>
    collection(
      list,
      'EventDestination',
      events.subscriptions.map(({ id }) => `${list}/${id}`),
    ),
  );
  app.post<{ Body: unknown }>(list, async ({ body }, reply) => {
    const subscription = subscribed((body ?? {}) as Record<string, unknown>);
    reply.code(201).header('location', `${list}/${subscription.id}`);
    return resourceOf(subscription);
  });
  app.get<{ Params: { id: string } }>(`${list}/:id`, ({ params: { id } }) => {
    const subscription = events.subscriptions.find((one) => one.id === id);
    if (subscription === undefined) throw missing(id);
    return resourceOf(subscription);
  });
  app.delete<{ Params: { id: string } }>(`${list}/:id`, async ({ params: { id } }, reply) => {
    if (!events.unsubscribe(id)) throw missing(id);
    return reply.code(204).send();
  });
  app.post(testEvent, async (_request, reply) => {
    events.tell('ResourceEvent.1.3.TestMessage', 'A test.');
    return reply.code(204).send();
  });

  function subscribed(body: Record<string, unknown>): Subscription {
    const unknown = Object.keys(body).find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw new RedfishError(400, 'PropertyUnknown', { args: [unknown], properties: [unknown] });
    const { Destination, Context, Protocol } = body;
    if (typeof Destination !== 'string' || !URL.canParse(Destination))
      throw new RedfishError(400, 'PropertyMissing', { args: ['Destination'], properties: ['Destination'] });
    if (Protocol !== 'Redfish')
      throw new RedfishError(400, 'PropertyMissing', { args: ['Protocol'], properties: ['Protocol'] });
    const subscription = events.subscribe(Destination, typeof Context === 'string' ? Context : '');
    if (subscription === undefined) throw new RedfishError(503, 'EventSubscriptionLimitExceeded');
    return subscription;
  }
}

function missing(id: string): RedfishError {
  return new RedfishError(404, 'ResourceMissingAtURI', { args: [`${list}/${id}`] });
}

function resourceOf({ id, destination, context, enabled }: Subscription): Record<string, unknown> {
  return {
    '@odata.id': `${list}/${id}`,
    '@odata.type': '#EventDestination.v1_14_0.EventDestination',
    Id: id,
    Name: 'Event subscription',
    Destination: destination,
    Context: context,
    Protocol: 'Redfish',
    SubscriptionType: 'RedfishEvent',
    EventFormatType: 'Event',
    Status: { State: enabled ? 'Enabled' : 'Disabled', Health: 'OK' },
  };
}
