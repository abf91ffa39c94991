import { describe, expect, onTestFinished, test } from 'vitest';
import { createHookDoor } from '#agent/site/bmcEvents/hookListener.ts';
import { silentLog } from '#base/log.ts';
import type { FaultRule } from '#rack/bmc/faultRule.ts';
import { loopbackCertificate, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { openBmc } from '#redfish/bmc.ts';
import { contextsOf, isNews } from '#redfish/events/news.ts';
import { longestEvent, SseReader } from '#redfish/events/sse.ts';
import type { Json, JsonObject } from '#redfish/json.ts';
import { bmcError, type Fault } from '../fakes/fakeBmc.ts';
import { plainSystem, startBench } from './bmcBench.ts';

const root = '/redfish/v1';
const service = `${root}/EventService`;
const link = (path: string) => ({ '@odata.id': path });

describe('a stream of server-sent events', () => {
  const read = (...pieces: string[]) => {
    const reader = new SseReader();
    const events = pieces.flatMap((piece) => reader.feed(piece));
    return { data: events.map(({ data }) => data), id: reader.lastEventId };
  };

  test.each([
    ['in one piece', ['id: 7\nevent: Event\ndata: a\n\n'], ['a']],
    ['in pieces of any size', [...'id: 7\ndata: a\ndata:b\n\n'], ['a\nb']],
    ['with CR and LF, cut between them', ['id: 7\r\ndata: a\r', '\n\r', '\ndata: b\r\n\r\n'], ['a', 'b']],
    ['with CR alone', ['id: 7\rdata: a\r\rdata: b\r\r'], ['a', 'b']],
    ['behind a byte order mark', ['\uFEFFid: 7\ndata: a\n\n'], ['a']],
    ['between comments and what nobody knows', [':\nid: 7\n: x\nfoo\nretry: x\ndata: a\n\n'], ['a']],
    ['without data: none', ['id: 7\n\n: heartbeat\n\n'], []],
    ['that was not ended: none', ['id: 7\ndata: a\n'], []],
  ])('%s', (_name, pieces, data) => {
    expect(read(...pieces)).toEqual({ data, id: '7' });
  });

  test('an event that does not end is passed over, and the next one is read', () => {
    const much = 'x'.repeat(100_000);
    const endless = Array.from({ length: 10 }, () => much);
    expect(read('data: ', ...endless, '\n\ndata: a\n\n').data).toEqual(['a']);
    const lines = Array.from({ length: 10 }, () => `data: ${much}\n`);
    expect(read(...lines, '\ndata: b\n\n').data).toEqual(['b']);
    expect(read(`data: ${'x'.repeat(longestEvent)}\n\n`).data).toHaveLength(1);
  });

  test('an event of endless empty lines is passed over as well', () => {
    const empty = 'data:\n'.repeat(longestEvent + 10);
    expect(read(empty, '\ndata: a\n\n').data).toEqual(['a']);
  });

  test('an id that would not fit into a header is not taken', () => {
    expect(read('id: 7\ndata: a\n\nid: 8\u00009\ndata: b\n\n').id).toBe('7');
  });
});

describe('what an event is about', () => {
  const event = (...records: Json[]): Json => ({ '@odata.type': '#Event.v1_7_0.Event', Events: records });

  test.each<[Json, boolean]>([
    [event({ MessageId: 'ResourceEvent.1.3.ResourcePoweredOn', MemberId: '0' }), true],
    [event({ MessageId: 'IDRAC.2.8.PSU0003', EventType: 'Alert' }), true],
    [event({ Message: 'Chassis state has changed' }), true],
    [event({ OriginOfCondition: `${root}/Systems/1` }), true],
    [event({ MessageId: 'IDRAC.2.8.USR0030', Message: 'Successfully logged in using root' }), false],
    [
      event({ OriginOfCondition: link(`${root}/SessionService/Sessions/3`), EventType: 'ResourceAdded' }),
      false,
    ],
    [event({ MessageId: 'iLOEvents.2.1.UserLogin' }, { MessageId: 'iLOEvents.2.1.ServerPoweredOff' }), true],
    [event({ MessageId: 'iLOEvents.2.1.UserLogin' }), false],
    [{ '@odata.type': '#MetricReport.v1_0_0.MetricReport', Events: [{ MessageId: 'x' }] }, false],
    [event(), false],
    [event(null, 7, 'x', {}), false],
    ['nothing', false],
    [{ Events: { MessageId: 'x' } }, false],
  ])('%j is worth a look: %s', (body, expected) => {
    expect(isNews(body)).toBe(expected);
  });

  test.each<[Json, string[]]>([
    [{ Context: 'a', Events: [] }, ['a']],
    [{ Events: [{ Context: 'a' }, { Context: '' }, null] }, ['a']],
    [{ Context: 7, Events: 'x' }, []],
  ])('the contexts of %j are %j', (body, contexts) => {
    expect(contextsOf(body)).toEqual(contexts);
  });
});

test.each([
  ["EventFormatType eq 'Event'", 'Nobody', '?$filter=EventFormatType%20eq%20%27Event%27'],
  ['EventFormatType eq Event', 'Dell Inc.', '?$filter=EventFormatType%20eq%20Event'],
])('a stream is asked for with the filter %s of %s', async (_filter, maker, query) => {
  const said = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: ': hello\n\n' };
  const answers: Fault = ({ path }) => (path.startsWith(`${service}/SSE`) ? said : undefined);
  const { fake, bmc } = await startBench({ system: { ...plainSystem, Manufacturer: maker } }, [answers]);
  fake.tree[root] = { ...fake.tree[root], EventService: link(service) };
  const more = { SSEFilterPropertiesSupported: { EventFormatType: true } };
  fake.tree[service] = { ServerSentEventUri: `${service}/SSE`, ...more };
  const stream = await bmc.events.stream({ onEvent: () => {}, lastEventId: '12' });
  expect(await stream?.ended).toBe('ended');
  const asked = fake.requests.find(({ path }) => path.startsWith(`${service}/SSE`));
  expect(asked).toMatchObject({ path: `${service}/SSE${query}`, headers: { 'last-event-id': '12' } });
});

test('a filter that is refused is left out', async () => {
  const answers: Fault = ({ path }) => {
    if (path.includes('$filter')) return { status: 400 };
    if (!path.endsWith('/SSE')) return undefined;
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: '' };
  };
  const { fake, bmc } = await startBench({}, [answers]);
  fake.tree[root] = { ...fake.tree[root], EventService: link(service) };
  const more = { SSEFilterPropertiesSupported: { EventFormatType: true } };
  fake.tree[service] = { ServerSentEventUri: `${service}/SSE`, ...more };
  expect(await (await bmc.events.stream({ onEvent: () => {} }))?.ended).toBe('ended');
});

test.each<[string, JsonObject | undefined]>([
  ['no event service', undefined],
  ['one that is switched off', { ServiceEnabled: false, ServerSentEventUri: `${service}/SSE` }],
  ['one without a stream', { ServerSentEventUri: null }],
])('a BMC with %s has no stream', async (_name, body) => {
  const { fake, bmc } = await startBench();
  if (body !== undefined) {
    fake.tree[root] = { ...fake.tree[root], EventService: link(service) };
    fake.tree[service] = body;
  }
  expect(await bmc.events.stream({ onEvent: () => {} })).toBeUndefined();
});

test('a page in the place of a stream is refused', async () => {
  const { fake, bmc } = await startBench();
  fake.tree[root] = { ...fake.tree[root], EventService: link(service) };
  fake.tree[service] = { ServerSentEventUri: `${service}/SSE` };
  fake.tree[`${service}/SSE`] = { Id: 'no stream' };
  await expect(bmc.events.stream({ onEvent: () => {} })).rejects.toMatchObject({
    details: { reason: 'malformed' },
  });
});

const tls = await loopbackCertificate();

async function startRackBmc(...faults: FaultRule[]) {
  const rack = await startSimulatedBmc({ directory: '/nonexistent', tls, faults });
  const { username, password } = rack.record.bmc;
  const bmc = openBmc({ address: rack.address, username, password, log: silentLog() });
  onTestFinished(async () => {
    await bmc.close();
    await rack.close();
  });
  return { rack, bmc };
}

test('a stream that falls silent is noticed', async () => {
  const { bmc } = await startRackBmc({ path: `${service}/SSE`, stream: 'silent' });
  const stream = await bmc.events.stream({ onEvent: () => {}, silentMs: 50 });
  expect(await stream?.ended).toBe('silent');
  expect(bmc.events.isStreaming()).toBe(false);
});

test('beside an open stream two reads and a write go on, and a third read waits', async () => {
  const { rack, bmc } = await startRackBmc({ method: 'GET', path: `${root}/Systems/1`, delayMs: 100 });
  const heard: Json[] = [];
  const stream = await bmc.events.stream({ onEvent: (body) => void heard.push(body ?? null) });
  let most = 0;
  let open = 0;
  rack.app.server.on('request', ({ url }, response) => {
    if (url !== `${root}/Systems/1`) return;
    most = Math.max(most, ++open);
    response.once('close', () => open--);
  });
  const reads = Array.from({ length: 6 }, () => bmc.health());
  await Promise.all([bmc.setPower('on'), ...reads]);
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  expect([most, rack.sessions.most, rack.events.streams]).toEqual([2, 1, 1]);
  await bmc.close();
  expect(await stream?.ended).toBe('closed');
  expect(rack.sessions.ids()).toEqual([]);
});

const hook = {
  prefix: 'https://site/v1/bmc-events/',
  destination: 'https://site/v1/bmc-events/t',
  context: 't',
};

/** A BMC that takes a subscription of just these fields. */
async function startPicky(wanted: string[], body: JsonObject) {
  const picky: Fault = ({ method, path, body: sent }) => {
    if (method !== 'POST' || path !== `${service}/Subscriptions`) return undefined;
    const extra = Object.keys(sent).find((name) => !wanted.includes(name));
    if (extra !== undefined) return bmcError(400, 'Base.1.12.PropertyUnknown', '', { MessageArgs: [extra] });
    const missing = wanted.find((name) => !(name in sent));
    if (missing !== undefined)
      return bmcError(400, 'Base.1.8.CreateFailedMissingReqProperties', '', { MessageArgs: [missing] });
    return { status: 201, headers: { location: `${service}/Subscriptions/1` } };
  };
  const bench = await startBench({}, [picky]);
  bench.fake.tree[root] = { ...bench.fake.tree[root], EventService: link(service) };
  bench.fake.tree[service] = { Subscriptions: link(`${service}/Subscriptions`), ...body };
  bench.fake.tree[`${service}/Subscriptions`] = { Members: [] };
  return bench;
}

const least = ['Destination', 'Context', 'Protocol'];

test.each<[string, string[], JsonObject, number]>([
  ['the newest', [...least, 'EventFormatType'], { EventFormatTypes: ['Event'] }, 1],
  ['without any of it', least, { RegistryPrefixes: [] }, 1],
  ['old', [...least, 'EventTypes'], { EventTypesForSubscription: ['Alert', 'Weather'] }, 1],
  ['old, and newer than it looks', least, {}, 2],
  [
    'demanding',
    [...least, 'EventTypes', 'SubscriptionType', 'HttpHeaders'],
    { EventFormatTypes: ['Event'] },
    5,
  ],
])(
  'the least is sent, what is unknown is left out and what is demanded is added (%s)',
  async (_name, wanted, body, tries) => {
    const { fake, bmc } = await startPicky(wanted, body);
    expect(await bmc.events.subscribe(hook)).toBe('made');
    expect(fake.sent('POST', 'Subscriptions')).toHaveLength(tries);
  },
);

test('a subscription that the BMC switched off (iDRAC) is made anew', async () => {
  const { rack, bmc } = await startRackBmc();
  expect(await bmc.events.subscribe(hook)).toBe('made');
  expect(await bmc.events.subscribe(hook)).toBe('kept');
  const [one] = rack.events.subscriptions;
  if (one !== undefined) one.enabled = false;
  expect(await bmc.events.subscribe(hook)).toBe('made');
  expect(rack.events.subscriptions).toMatchObject([{ enabled: true, destination: hook.destination }]);
  await bmc.events.unsubscribe(hook.prefix);
  expect(rack.events.subscriptions).toEqual([]);
});

test.each([
  ['EventService.1.0.EventSubscriptionLimitExceeded', ''],
  ['Base.1.12.CreateLimitReachedForResource', ''],
  ['IDRAC.2.8.SYS456', 'The maximum number of subscriptions is reached.'],
])('a full table is told as that (%s)', async (id, text) => {
  const { fake, bmc } = await startPicky(least, { RegistryPrefixes: [] });
  fake.faults.unshift(({ method, path }) =>
    method === 'POST' && path === `${service}/Subscriptions` ? bmcError(400, id, text) : undefined,
  );
  await expect(bmc.events.subscribe(hook)).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'subscriptions-full' },
  });
});

test('an event with its token is taken, with 200', async () => {
  const looked: [string, boolean][] = [];
  const door = createHookDoor({
    hooks: { ownerOf: (token) => (token === 't' ? 'node-1' : undefined) },
    onDelivery: (...delivery) => void looked.push(delivery),
    log: silentLog(),
  });
  onTestFinished(() => door.close());
  const payload = { Events: [{ MessageId: 'ResourceEvent.1.3.ResourcePoweredOn' }] };
  for (const url of ['/v1/bmc-events/t', '/v1/bmc-events/t/'])
    expect((await door.inject({ method: 'POST', url, payload })).statusCode).toBe(200);
  expect((await door.inject({ method: 'POST', url: '/v1/bmc-events/u', payload })).statusCode).toBe(403);
  expect(looked).toEqual([
    ['node-1', true],
    ['node-1', true],
  ]);
});
