import { setTimeout } from 'node:timers/promises';
import { test } from 'vitest';
import type { FaultName } from '#rack/bmc/faults.ts';
import { startBmc, startWatching, temporaryState } from './stage.ts';

const soon = { timeout: 2000, interval: 20 };
const later = { timeout: 8000, interval: 50 };

test.concurrent('power that somebody changes at the machine is known at once by the stream, with one session', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own);
  const site = await startWatching(own, bmc);
  await expect.poll(site.health, soon).toMatchObject({ power: 'off', events: 'sse' });
  bmc.machine.powerState = 'On';
  await expect.poll(site.health, soon).toMatchObject({ power: 'on', events: 'sse' });
  expect([bmc.sessions.most, bmc.events.streams]).toEqual([1, 1]);
  await site.stop();
  expect([bmc.sessions.ids(), bmc.events.streams]).toEqual([[], 0]);
});

test.concurrent('an entry of the log is told at once, and once', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own);
  bmc.eventLog.write('from before');
  const site = await startWatching(own, bmc);
  await expect.poll(() => site.texts('bmc.log'), soon).toHaveLength(1);
  bmc.eventLog.write('fan 3 failed', { severity: 'Critical', sensorType: 'Fan' });
  await expect.poll(() => site.texts('bmc.log').at(-1), soon).toMatch(/fan 3 failed \[Critical, Fan\]/);
  bmc.eventLog.write('fan 3 is back');
  await expect.poll(() => site.texts('bmc.log').at(-1), later).toMatch('fan 3 is back');
  expect(site.texts('bmc.log')).toHaveLength(3);
});

test.concurrent('a site that starts anew tells nothing twice, and hears what was written meanwhile', async (own) => {
  const { expect } = own;
  const directory = await temporaryState(own);
  const bmc = await startBmc(own);
  const first = await startWatching(own, bmc, { directory });
  await expect.poll(() => first.texts('bmc.log'), soon).toHaveLength(1);
  await first.stop();
  bmc.eventLog.write('while nobody listened');
  const second = await startWatching(own, bmc, { directory });
  await expect.poll(() => second.texts('bmc.log').length, soon).toBe(2);
  expect(second.texts('bmc.log').at(-1)).toMatch('while nobody listened');
});

test.concurrent('a BMC that starts anew is listened to again, and asked what was missed', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own);
  const { port } = new URL(bmc.address);
  const site = await startWatching(own, bmc);
  await expect.poll(site.health, soon).toMatchObject({ events: 'sse' });
  await bmc.close();
  const again = await startBmc(own, [], { port: Number(port), record: bmc.record });
  again.machine.powerState = 'On';
  await expect.poll(site.health, later).toMatchObject({ power: 'on' });
  await expect.poll(() => again.events.streams, later).toBe(1);
});

test.concurrent.for<FaultName>(['stream-garbage', 'stream-cut'])(
  '%s: what happens is known all the same',
  async (fault, own) => {
    const { expect } = own;
    const bmc = await startBmc(own, [fault]);
    const site = await startWatching(own, bmc);
    await expect.poll(site.health, soon).toMatchObject({ power: 'off' });
    bmc.machine.powerState = 'On';
    await expect.poll(site.health, later).toMatchObject({ power: 'on' });
  },
);

test.concurrent('a BMC without events is asked', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own, ['no-event-service']);
  const site = await startWatching(own, bmc, { healthEvery: '1s' });
  await expect.poll(site.health, later).toMatchObject({ power: 'off', events: 'poll' });
  bmc.machine.powerState = 'On';
  await expect.poll(site.health, later).toMatchObject({ power: 'on', events: 'poll' });
});

test.concurrent('where the configuration says so, nobody is listened to', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own);
  const site = await startWatching(own, bmc, { events: { mode: 'poll' }, healthEvery: '1s' });
  await expect.poll(site.health, later).toMatchObject({ power: 'off', events: 'poll' });
  expect(bmc.events.streams).toBe(0);
});

test.concurrent('a machine that leaves the site is not listened to any more', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own);
  const site = await startWatching(own, bmc);
  await expect.poll(() => bmc.events.streams, soon).toBe(1);
  site.have([]);
  await expect.poll(() => bmc.events.streams, later).toBe(0);
});

test.concurrent('an interface more, or a new password on its way, costs no more than the stream once', async (own) => {
  const { expect } = own;
  const bmc = await startBmc(own);
  const site = await startWatching(own, bmc, { healthEvery: '1s' });
  await expect.poll(() => bmc.events.streams, soon).toBe(1);
  const [session] = bmc.sessions.ids();
  const grown = { ...site.node, macs: [...site.node.macs, '52:54:00:00:00:02'] };
  site.have([grown]);
  await setTimeout(2500);
  expect(bmc.sessions.ids()).toEqual([session]);
  site.have([{ ...grown, bmcNextSecret: { secretId: 'sec_2', version: 1 } }]);
  await expect.poll(() => bmc.sessions.ids()[0] !== session && bmc.events.streams, later).toBe(1);
  const [next] = bmc.sessions.ids();
  await setTimeout(4000);
  expect([bmc.sessions.ids(), bmc.events.streams]).toEqual([[next], 1]);
});
