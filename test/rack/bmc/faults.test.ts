import { expect, test } from 'vitest';
import { type FaultName, faultNames } from '#rack/bmc/faults.ts';
import { fakeBmc, messageId } from '../fakes/bmc.ts';

const system = '/redfish/v1/Systems/1';
const pxeOnce = { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } };

const withFault = (...faults: FaultName[]) => fakeBmc({ faults });

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

test('every fault has a name that can be switched on', () => {
  expect(withFault(...faultNames).faults.names()).toEqual(faultNames);
});
