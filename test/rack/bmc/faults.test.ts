import { describe, expect, onTestFinished, test } from 'vitest';
import { type Fault, FaultSwitches } from '#rack/bmc/faultSwitches.ts';
import { faultNames } from '#rack/bmc/faults.ts';
import { fakeBmc, messageId } from '../fakes/bmc.ts';

const system = '/redfish/v1/Systems/1';
const reset = `${system}/Actions/ComputerSystem.Reset`;
const pxeOnce = { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } };

const withFault = (...faults: Fault[]) => fakeBmc({ faults });

test('503-once refuses the first request and no other', async () => {
  const { ask } = withFault('503-once');
  const first = await ask('GET', system);
  expect([first.status, messageId(first)]).toEqual([503, 'Base.1.18.ServiceTemporarilyUnavailable']);
  expect((await ask('GET', system)).status).toBe(200);
});

test('accept-but-ignore-boot-override answers success and stores nothing', async () => {
  const { ask, machine } = withFault('accept-but-ignore-boot-override');
  expect((await ask('PATCH', system, pxeOnce)).status).toBe(200);
  expect(machine.bootOverride).toEqual({ target: 'None', enabled: 'Disabled' });
});

test('override-target-only keeps the target and leaves the override disabled', async () => {
  const { ask } = withFault('override-target-only');
  await ask('PATCH', system, pxeOnce);
  expect((await ask('GET', system)).body.Boot).toMatchObject({
    BootSourceOverrideTarget: 'Pxe',
    BootSourceOverrideEnabled: 'Disabled',
  });
});

test('no-allowable-values hides which boot targets there are', async () => {
  const { ask } = withFault('no-allowable-values');
  const { Boot } = (await ask('GET', system)).body;
  expect(Object.keys(Boot).filter((key) => key.includes('@'))).toEqual([]);
  expect(Boot.BootSourceOverrideTarget).toBe('None');
});

test('no-virtual-media hides the drive', async () => {
  const { ask } = withFault('no-virtual-media');
  expect((await ask('GET', system)).body).toMatchObject({ Id: '1' });
  expect((await ask('GET', system)).body).not.toHaveProperty('VirtualMedia');
});

test('sessions-exhausted refuses logins and leaves Basic alone', async () => {
  const { ask } = withFault('sessions-exhausted');
  const login = await ask('POST', '/redfish/v1/SessionService/Sessions', {});
  expect(messageId(login)).toBe('Base.1.18.SessionLimitExceeded');
  expect((await ask('GET', system)).status).toBe(200);
});

test('slow answers late', async () => {
  const { ask } = withFault('slow');
  const start = performance.now();
  await ask('GET', system);
  expect(performance.now() - start).toBeGreaterThan(900);
});

test('faults are switched while the BMC runs', async () => {
  const { ask, faults } = withFault();
  faults.set(['503-once']);
  expect((await ask('GET', system)).status).toBe(503);
  faults.set([]);
  expect((await ask('GET', system)).status).toBe(200);
});

describe('a fault that a test makes up', () => {
  test('is an answer in the place of the BMC’s, for a method, a pattern of paths, and a number of requests', async () => {
    const { ask, machine } = withFault({
      method: 'POST',
      path: '*/ComputerSystem.Reset',
      status: 502,
      body: '<html>',
      count: 1,
    });
    const raw = await ask('POST', reset, { ResetType: 'On' }).catch((error: unknown) => error);
    expect(raw).toBeInstanceOf(SyntaxError);
    expect(machine.actions).toEqual([]);
    expect((await ask('POST', reset, { ResetType: 'On' })).status).toBe(204);
  });

  test('lays a body over the BMC’s own; null takes a property away', async () => {
    const { ask } = withFault({
      path: system,
      merge: { PowerState: 'PoweringOn', Boot: { BootSourceOverrideMode: null } },
    });
    const { body } = await ask('GET', system);
    expect(body).toMatchObject({
      Id: '1',
      PowerState: 'PoweringOn',
      Boot: { BootSourceOverrideTarget: 'None' },
    });
    expect(body.Boot).not.toHaveProperty('BootSourceOverrideMode');
  });

  test('answers with an error although the BMC has acted', async () => {
    const { ask, machine } = withFault({
      method: 'POST',
      status: 503,
      acted: true,
      headers: { 'retry-after': '2' },
    });
    const { status, headers } = await ask('POST', reset, { ResetType: 'On' });
    expect([status, headers['retry-after'], machine.actions]).toEqual([503, '2', ['On']]);
  });

  test('holds for a share of the requests', () => {
    const dice = [0.05, 0.5, 0.09, 0.1];
    const switches = new FaultSwitches([{ share: 0.1, status: 503 }], () => dice.shift() ?? 1);
    expect(dice.slice().map(() => switches.take('GET', system).length)).toEqual([1, 0, 1, 0]);
  });

  test.each([
    ['before', 0],
    ['after', 1],
    ['middle', 1],
  ] as const)('breaks the connection %s the BMC acts or answers', async (cut, acted) => {
    const { app, machine, record } = withFault({ method: 'POST', path: reset, cut });
    const { username, password } = record.bmc;
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => app.close());
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const asked = fetch(address + reset, { method: 'POST', headers, body: '{"ResetType":"On"}' });
    await expect(asked.then((answer) => answer.text())).rejects.toThrow();
    expect(machine.actions).toHaveLength(acted);
  });
});

test('every fault has a name that can be switched on', () => {
  expect(withFault(...faultNames).faults.names()).toEqual(faultNames);
});
