import { Agent, request } from 'undici';
import { type TestContext, test } from 'vitest';
import { somewhere, startBmc, startWatching, temporaryState } from './stage.ts';

const soon = { timeout: 2000, interval: 20 };
const later = { timeout: 8000, interval: 50 };

async function started(own: TestContext, directory?: string) {
  const { expect } = own;
  const bmc = await startBmc(own, ['no-event-stream']);
  const events = { listen: await somewhere() };
  const options = { events, ...(directory !== undefined && { directory }) };
  const site = await startWatching(own, bmc, options);
  await expect.poll(() => bmc.events.subscriptions.length, soon).toBe(1);
  return { bmc, site, events };
}

const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });

async function post(url: string, body: object | string, type = 'application/json'): Promise<number> {
  const answer = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await answer.body.dump();
  return answer.statusCode;
}

const powered = { Events: [{ MessageId: 'ResourceEvent.1.3.ResourcePoweredOn' }] };

test.concurrent('power that somebody changes at the machine is known at once by what the BMC posts', async (own) => {
  const { expect } = own;
  const { bmc, site } = await started(own);
  await expect.poll(site.health, soon).toMatchObject({ power: 'off', events: 'webhook' });
  bmc.machine.powerState = 'On';
  await expect.poll(site.health, soon).toMatchObject({ power: 'on', events: 'webhook' });
  bmc.eventLog.write('fan 3 failed');
  await expect.poll(() => site.texts('bmc.log').at(-1), later).toMatch('fan 3 failed');
  expect(bmc.events.subscriptions).toMatchObject([{ enabled: true }]);
});

test.concurrent('an event with its token is taken, with 200', async (own) => {
  const { expect } = own;
  const { bmc } = await started(own);
  const [{ destination, context } = { destination: '', context: '' }] = bmc.events.subscriptions;
  expect(await post(destination, { ...powered, Context: context })).toBe(200);
  expect(await post(`${destination}/`, powered)).toBe(200);
  expect(await post(destination, powered, 'text/plain')).toBe(200);
  expect(await post(destination, { Events: [{ ...powered.Events[0], Context: context }] })).toBe(200);
});

test.concurrent('an event without the right token is refused, whatever it says, and nobody looks', async (own) => {
  const { expect } = own;
  const { bmc, site } = await started(own);
  await expect.poll(site.health, soon).toMatchObject({ events: 'webhook' });
  const [{ destination } = { destination: '' }] = bmc.events.subscriptions;
  await expect.poll(() => site.texts('bmc.log').length, soon).toBe(1);
  const before = bmc.requests.length;
  expect(await post(destination.slice(0, -1), powered)).toBe(403);
  expect(await post(`${site.hookUrl}/v1/bmc-events/${'a'.repeat(32)}`, powered)).toBe(403);
  expect(await post(destination, { ...powered, Context: 'another' })).toBe(403);
  expect(await post(destination, '{"Events":[')).toBe(400);
  expect(await post(destination, { Events: 'x'.repeat(300_000) })).toBe(400);
  expect(await post(destination, { Events: [null, 7, {}] })).toBe(200);
  expect(bmc.requests.slice(before).filter(({ url }) => url.endsWith('/Systems/1'))).toEqual([]);
});

test.concurrent('a subscription is found again by a site that was killed, and there is never a second one', async (own) => {
  const { expect } = own;
  const directory = await temporaryState(own);
  const { bmc, site, events } = await started(own, directory);
  const kept = structuredClone(bmc.events.subscriptions);
  await site.stop();
  expect(bmc.events.subscriptions).toEqual([]);
  // As a killed one leaves it, with one more of an earlier life.
  const prefix = `${site.hookUrl}/v1/bmc-events/`;
  bmc.events.subscriptions.push(...kept);
  bmc.events.subscribe(`${prefix}${'b'.repeat(32)}`, 'b');
  bmc.events.subscribe('https://192.0.2.9/of-somebody-else', 'c');
  await startWatching(own, bmc, { directory, events });
  await expect
    .poll(
      () =>
        bmc.events.subscriptions.map(({ id, destination }) => (id === kept[0]?.id ? 'ours' : destination)),
      later,
    )
    .toEqual(['ours', 'https://192.0.2.9/of-somebody-else']);
});

test.concurrent('one that is not wanted any more is deleted: by another configuration, and with its machine', async (own) => {
  const { expect } = own;
  const directory = await temporaryState(own);
  const { bmc, site } = await started(own, directory);
  const kept = structuredClone(bmc.events.subscriptions);
  site.have([]);
  await expect.poll(() => bmc.events.subscriptions.length, later).toBe(0);
  await expect.poll(() => post(kept[0]?.destination ?? '', powered), later).toBe(403);
  site.have([site.node]);
  await expect.poll(() => bmc.events.subscriptions.length, later).toBe(1);
  await site.stop();
  bmc.events.subscriptions.push(...kept);
  expect(bmc.events.subscriptions).toHaveLength(1);
});

test.concurrent('one that the BMC lost is made anew', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own, ['no-event-stream']);
  const site = await startWatching(own, bmc, { events: { listen: await somewhere() }, healthEvery: '1s' });
  await expect.poll(() => bmc.events.subscriptions.length, soon).toBe(1);
  bmc.events.subscriptions.pop();
  await expect.poll(() => bmc.events.subscriptions.length, later).toBe(1);
  const [one] = bmc.events.subscriptions;
  if (one !== undefined) one.enabled = false;
  await expect.poll(() => bmc.events.subscriptions[0]?.enabled, later).toBe(true);
  expect(site.texts('bmc.events')).toEqual([]);
});

test.concurrent('a table that is full is told, and the BMC is asked', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own, ['no-event-stream', 'subscriptions-full']);
  const site = await startWatching(own, bmc, { events: { listen: await somewhere() }, healthEvery: '1s' });
  await expect
    .poll(() => site.texts('bmc.events'), later)
    .toEqual([expect.stringMatching(/takes no more subscriptions.*asked for instead/)]);
  bmc.machine.powerState = 'On';
  await expect.poll(site.health, later).toMatchObject({ power: 'on', events: 'poll' });
});
