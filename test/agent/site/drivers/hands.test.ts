import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { BoundNode } from '#agent/site/drivers/boundNode.ts';
import { broadcastOf, magicPacket, sendMagicPackets } from '#agent/site/drivers/magicPacket.ts';
import { driverOpener } from '#agent/site/drivers/open.ts';
import { createRequests } from '#agent/site/drivers/requests.ts';
import type { ActionContext } from '#agent/site/operations/action.ts';
import { setPower } from '#agent/site/operations/setPower.ts';
import type { Happening } from '#agent/site/store/events.ts';
import { driverParts } from '../../../fakes/driverParts.ts';

const mac = '52:54:00:00:00:07';
const machine: BoundNode = { nodeId: 'node-7', macs: [mac], bmc: { driver: 'manual' } };
const unsupported = (reason: string) => ({ code: 'UNSUPPORTED', details: { reason } });

function setUp(bmc: BoundNode['bmc']) {
  const woken: string[] = [];
  const told: Happening[] = [];
  const booted = { since: Number.POSITIVE_INFINITY };
  const requests = createRequests({ add: (event) => void told.push(event) }, () => {});
  const open = driverOpener({
    ...driverParts(),
    wake: async (macs) => void woken.push(...macs),
    manual: {
      requests,
      bootedSince: (_macs, since) => booted.since >= since && Number.isFinite(booted.since),
    },
  });
  return { woken, told, booted, requests, driver: open({ ...machine, bmc }) };
}

test('a magic packet is six bytes of ones and the address sixteen times', () => {
  expect(magicPacket(mac).toString('hex')).toBe('ff'.repeat(6) + '525400000007'.repeat(16));
  expect([broadcastOf('10.77.0.1', 24), broadcastOf('172.16.5.9', 20)]).toEqual([
    '10.77.0.255',
    '172.16.15.255',
  ]);
});

test('a magic packet goes to the broadcast address of the network, without privilege', async () => {
  const sleeper = createSocket('udp4');
  onTestFinished(() => void sleeper.close());
  sleeper.bind(0);
  await once(sleeper, 'listening');
  const heard = once(sleeper, 'message');
  await sendMagicPackets(
    [mac],
    [{ address: '127.0.0.1', broadcast: '127.255.255.255' }],
    sleeper.address().port,
  );
  expect((await heard)[0]).toEqual(magicPacket(mac));
});

test.each([
  ['on', true, { kind: 'done', result: { power: 'on' } }],
  ['cycle', true, { kind: 'done', result: { power: 'on' } }],
  ['on', false, { kind: 'repeat' }],
  ['off', true, { kind: 'repeat' }],
] as const)(
  'power %s whose agent restarted is asked for again, unless a boot has proven it: %s',
  async (action, booted, settlement) => {
    const state = { events: { bootedSince: () => booted } };
    const context = { node: machine, state } as unknown as ActionContext;
    expect(await setPower.settle({ action }, context, 0)).toEqual(settlement);
  },
);

test('Wake-on-LAN switches on, and says of everything else why it cannot', async () => {
  const { driver, woken } = setUp({ driver: 'wake-on-lan' });
  const wake = await driver;
  expect(await wake.setPower('on')).toBe('on');
  expect(woken).toEqual([mac]);
  for (const action of ['off', 'graceful-off', 'reset', 'nmi'] as const)
    await expect(wake.setPower(action)).rejects.toMatchObject(unsupported('power-action'));
  await expect(wake.getPower()).rejects.toMatchObject(unsupported('power-state'));
  await expect(wake.inspect()).rejects.toMatchObject(unsupported('inspect'));
  await expect(wake.insertMedia('https://x/y.iso')).rejects.toMatchObject(unsupported('virtual-media'));
  await expect(wake.setBootDevice({ device: 'pxe', persistent: false })).rejects.toMatchObject(
    unsupported('boot-device'),
  );
});

test('a machine that always tries the network first needs no boot device', async () => {
  const { driver } = setUp({ driver: 'wake-on-lan', bootOrder: 'network-first' });
  expect(await (await driver).setBootDevice({ device: 'pxe', persistent: false })).toMatchObject({
    by: 'boot-order',
  });
  await expect((await driver).setBootDevice({ device: 'cd', persistent: false })).rejects.toMatchObject(
    unsupported('boot-device'),
  );
});

test('an operator is asked in plain words, and the machine’s boot ends it', async () => {
  const { driver, told, booted, requests } = setUp({ driver: 'manual' });
  const cycled = (await driver).setPower('cycle', { deadline: Date.now() + 10_000 });
  expect(requests.open()).toMatchObject([
    { nodeId: 'node-7', text: `switch off and on again node-7 (${mac})` },
  ]);
  expect(told).toMatchObject([{ type: 'operator.asked', nodeId: 'node-7', mac }]);
  booted.since = Date.now() + 1;
  expect(await cycled).toBe('on');
  expect(requests.open()).toEqual([]);
  expect(told.at(-1)).toMatchObject({ type: 'operator.done' });
});

test('what leaves no trace on the network needs the operator’s word', async () => {
  const { driver, booted, requests } = setUp({ driver: 'manual' });
  booted.since = Number.MAX_SAFE_INTEGER;
  const off = (await driver).setPower('off', { deadline: Date.now() + 10_000 });
  expect(requests.confirm('node-8')).toBeUndefined();
  expect(requests.confirm('node-7')).toMatchObject({ nodeId: 'node-7' });
  expect(await off).toBe('off');
});

test('nobody who does it in time is an error that says what was asked; a cancel ends the wait', async () => {
  const { driver, requests } = setUp({ driver: 'manual' });
  await expect((await driver).setPower('on', { deadline: Date.now() + 50 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { reason: 'operator-timeout' },
  });
  const stop = new AbortController();
  const waiting = (await driver).setPower('on', { deadline: Date.now() + 60_000, signal: stop.signal });
  stop.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow();
  expect(requests.open()).toEqual([]);
});
