import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linkPath } from '#redfish/transport.ts';
import { bmcError } from '../fakes/fakeBmc.ts';
import { always, plainSystem, startBench } from './bmcBench.ts';

/** What a BMC sends that is broken, or in other hands. */

const systemPath = '/redfish/v1/Systems/1';
const resetPath = 'ComputerSystem.Reset';

describe('a link', () => {
  test.each([
    ['x:@other.example/', '/x%3A%40other.example%2F'],
    ['javascript:.other.example/', '/javascript%3A.other.example%2F'],
    ['https://[', '/https%3A%2F%2F%5B'],
    ['https://other.example/redfish/v1/Systems/1?x=1#f', '/redfish/v1/Systems/1?x=1'],
    ['//other.example/redfish/v1', '/redfish/v1'],
    ['/redfish/v1/Chassis/1/Thermal#/Fans/0', '/redfish/v1/Chassis/1/Thermal'],
  ])('%s is a path of this BMC', (link, path) => {
    expect(linkPath('https://10.0.0.2', link)).toBe(path);
  });

  test('of any text leads to no other host', () => {
    const origin = 'https://10.0.0.2:8443';
    const odd = fc.string({ unit: fc.constantFrom(...'/:@.x?#\\[] \t%') });
    fc.assert(
      fc.property(fc.oneof(odd, fc.string({ unit: 'binary' }), fc.webUrl()), (link) => {
        expect(new URL(origin + linkPath(origin, link)).origin).toBe(origin);
      }),
    );
  });

  test('that is none costs its own part of an inspection', async () => {
    const { fake, bmc } = await startBench();
    fake.system.Memory = { '@odata.id': 'x:@127.0.0.1:1/' };
    const { notes } = await bmc.inspect();
    expect(notes).toEqual([expect.stringContaining('HTTP 404 to GET /x%3A%40127.0.0.1%3A1%2F')]);
  });
});

test('the faults that a BMC tells move no cursor where they are read', async () => {
  const Conditions = [{ Message: 'fan\u001b[2J 3\u0000' }, { Message: '\ud83d'.repeat(300) }, { Message: 7 }];
  const { bmc } = await startBench({
    system: { ...plainSystem, Status: { HealthRollup: 'Warning', Conditions } },
  });
  const { faults } = await bmc.health();
  expect(faults).toEqual(['fan\\u001b[2J 3\\u0000', '\ufffd'.repeat(256)]);
});

describe('an answer', () => {
  test('that does not end is not read on, asked for once, and told as what it is', async () => {
    const endless = { status: 200, body: `{"a":"${'x'.repeat(5 * 1024 * 1024)}"}` };
    const { fake, bmc } = await startBench({}, [always('GET', systemPath, endless)]);
    await expect(bmc.getPower()).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      message: expect.stringContaining('longer than 4 MiB'),
      details: { reason: 'malformed', path: systemPath },
    });
    expect(fake.sent('GET', systemPath)).toHaveLength(1);
  });

  test.each([
    ['a page', '<html>Welcome</html>'],
    ['half a resource', '{"PowerState": "On", "Bo'],
    ['a list', '[]'],
    ['nothing', ''],
  ])('200 with %s is no resource', async (_name, body) => {
    const { bmc } = await startBench({}, [always('GET', systemPath, { status: 200, body })]);
    await expect(bmc.getPower()).rejects.toMatchObject({
      message: expect.stringContaining('HTTP 200 without a resource to GET'),
      details: { reason: 'malformed', status: 200 },
    });
  });

  test('that fills a screen is told in a line, without what a terminal would act on', async () => {
    const text = `first\u001b[31m\r\n${'y'.repeat(100_000)}`;
    const { bmc } = await startBench({}, [always('GET', systemPath, bmcError(400, 'Base.1.0.X', text))]);
    const error = await bmc.getPower().catch((thrown) => thrown);
    expect(error.message.length).toBeLessThan(1000);
    expect(error.message).toContain('Base.1.0.X: first [31m yyy');
  });

  test.each(['a"b\\c', 'p&ss wörd'])(
    'that quotes the password %s escaped does not spread it',
    async (password) => {
      const quoted = `${password} ${encodeURIComponent(password)}`;
      const { bmc } = await startBench({}, [always('GET', '/v1', bmcError(400, 'Base.1.0.X', quoted))], {
        password,
      });
      const answer = await bmc.relay({ method: 'GET', path: '/redfish/v1/' });
      expect(answer).toMatchObject({ status: 400, body: { error: { message: '*** ***' } } });
    },
  );
});

test('a collection whose pages go in a circle is read once', async () => {
  const { fake, bmc } = await startBench();
  fake.system.Memory = { '@odata.id': '/redfish/v1/Memory' };
  const stick = { Id: 'A1', CapacityMiB: 1024 };
  fake.tree['/redfish/v1/Memory/A1'] = stick;
  fake.tree['/redfish/v1/Memory'] = {
    Members: [{ '@odata.id': '/redfish/v1/Memory/A1' }, null, {}],
    'Members@odata.nextLink': '/redfish/v1/Memory',
  };
  expect((await bmc.inspect()).memory).toHaveLength(1);
  expect(fake.sent('GET', '/Memory')).toHaveLength(1);
});

describe('Retry-After: 0', () => {
  const atOnce = { status: 503, headers: { 'retry-after': '0' } };

  test('to an action is no leave to ask in a tight loop', async () => {
    const { fake, bmc } = await startBench({}, [always('POST', resetPath, atOnce)]);
    await expect(bmc.setPower('on', { deadline: 20_000 })).rejects.toMatchObject({
      details: { reason: 'busy' },
    });
    expect(fake.resets().length).toBeLessThanOrEqual(21);
  });

  test('of a task neither', async () => {
    const monitor = '/redfish/v1/TaskService/TaskMonitors/7';
    const running = { status: 202, headers: { location: monitor, 'retry-after': '0' } };
    const { fake, bmc } = await startBench({}, [
      always('POST', resetPath, running),
      always('GET', monitor, running),
    ]);
    await expect(bmc.setPower('on', { deadline: 20_000 })).rejects.toMatchObject({
      details: { reason: 'task-timeout' },
    });
    expect(fake.sent('GET', monitor).length).toBeLessThanOrEqual(20);
  });
});
