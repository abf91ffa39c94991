import fc from 'fast-check';
import { expect, test } from 'vitest';
import { driverFor, overridesIn, resolveDriverBindings } from '#central/metal/driverBindings.ts';
import { checkHardwareProfiles } from '#central/metal/hardwareProfiles.ts';
import { newSite, startTestCentre } from './centre.ts';

const bmc = { driver: 'redfish' as const, address: 'https://10.0.0.1', credentialRef: 'secret://bmc' };
const config = { address: bmc.address, credentialRef: bmc.credentialRef };

/** The hardware profile of the documentation. */
const gpuRedfish = {
  drivers: {
    power: 'redfish',
    management: 'redfish',
    boot: 'ipxe',
    deploy: 'image-stream',
    inspect: 'agent',
  },
};

test('the BMC binds power, management and virtual media, with its address and credential reference', () => {
  const binding = { driver: 'redfish', config };
  expect(resolveDriverBindings({ bmc })).toEqual({
    power: binding,
    management: binding,
    'virtual-media': binding,
  });
  expect(resolveDriverBindings({})).toEqual({});
});

test('the hardware profile overrides per concern, and naming the same driver keeps its configuration', () => {
  const binding = { driver: 'redfish', config };
  expect(resolveDriverBindings({ bmc, hardwareProfile: gpuRedfish })).toEqual({
    power: binding,
    management: binding,
    'virtual-media': binding,
    boot: { driver: 'ipxe' },
    deploy: { driver: 'image-stream' },
    inspect: { driver: 'agent' },
  });
});

test('per-node overrides win; another driver begins with its own configuration alone', () => {
  const overrides = {
    power: { driver: 'pdu', config: { outlet: 4 } },
    management: { driver: 'redfish', config: { slow: true } },
  };
  expect(resolveDriverBindings({ bmc, hardwareProfile: gpuRedfish, overrides })).toMatchObject({
    power: { driver: 'pdu', config: { outlet: 4 } },
    management: { driver: 'redfish', config: { ...config, slow: true } },
  });
  expect(resolveDriverBindings({ bmc, overrides: { power: 'pdu' } }).power).toEqual({ driver: 'pdu' });
});

test('whatever the layers, every concern that one names is bound, by the highest that names it', () => {
  const choices = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.stringMatching(/^[a-z]{1,4}$/));
  fc.assert(
    fc.property(choices, choices, (lower, upper) => {
      const bindings = resolveDriverBindings({ hardwareProfile: { drivers: lower }, overrides: upper });
      const expected = Object.entries({ ...lower, ...upper }).map(([concern, driver]) => [
        concern,
        { driver },
      ]);
      expect(bindings).toEqual(Object.fromEntries(expected));
    }),
  );
});

test('what a node overrides is found in its bindings, so that another BMC can be put below', () => {
  const drivers = fc.constantFrom('redfish', 'ipmi', 'pdu');
  const config = fc.dictionary(fc.constantFrom('slow', 'outlet', 'address'), fc.integer({ max: 3 }));
  const concern = fc.constantFrom('power', 'management', 'boot', 'constructor');
  const choices = fc.dictionary(concern, fc.record({ driver: drivers, config }));
  fc.assert(
    fc.property(choices, choices, (lower, overrides) => {
      const layers = { bmc, hardwareProfile: { drivers: lower } };
      const bindings = resolveDriverBindings({ ...layers, overrides });
      const found = overridesIn(bindings, resolveDriverBindings(layers));
      expect(resolveDriverBindings({ ...layers, overrides: found })).toEqual(bindings);
    }),
  );
  const other = { ...bmc, address: 'https://10.0.0.2' };
  const slow = { management: { driver: 'redfish', config: { slow: true } } };
  const bindings = resolveDriverBindings({ bmc, overrides: slow });
  expect(overridesIn(bindings, resolveDriverBindings({ bmc }))).toEqual(slow);
  expect(resolveDriverBindings({ bmc: other, overrides: slow }).management).toEqual({
    driver: 'redfish',
    config: { address: other.address, credentialRef: other.credentialRef, slow: true },
  });
});

test('what was made of the BMC that is replaced has none of it any more, also where the hardware profile is another since', () => {
  const other = { driver: 'redfish' as const, address: 'https://10.0.0.2', credentialRef: 'secret://other' };
  const bindings = resolveDriverBindings({
    bmc,
    overrides: { power: { driver: 'redfish', config: { slow: true } } },
  });
  const hardwareProfile = { drivers: { power: 'pdu', management: 'pdu' } };
  const below = resolveDriverBindings({ bmc, hardwareProfile });
  const bound = (now: typeof other | undefined) =>
    resolveDriverBindings({
      bmc: now,
      hardwareProfile,
      overrides: overridesIn(bindings, below, { before: bmc, now }),
    });
  const { driver, ...otherConfig } = other;
  expect(bound(other)).toEqual({
    power: { driver, config: { ...otherConfig, slow: true } },
    management: { driver, config: otherConfig },
    'virtual-media': { driver, config: otherConfig },
  });
  expect(JSON.stringify(bound(undefined))).not.toContain(bmc.address);
});

test("a profile's drivers apply to what it invokes, before the node's bindings", () => {
  const bindings = resolveDriverBindings({ bmc });
  expect(driverFor('power', bindings)).toEqual({ driver: 'redfish', config });
  expect(driverFor('power', bindings, { power: 'pdu' })).toEqual({ driver: 'pdu', config: {} });
  expect(driverFor('bios', bindings, { bios: { driver: 'redfish' } })).toEqual({
    driver: 'redfish',
    config: {},
  });
  expect(driverFor('constructor', bindings)).toBeUndefined();
});

test('hardware profiles are checked when they are configured', () => {
  expect(checkHardwareProfiles({ 'gpu-redfish': gpuRedfish })).toEqual({ 'gpu-redfish': gpuRedfish });
  const refusal = (document: unknown) => () => checkHardwareProfiles(document);
  expect(refusal({ a: { drivers: { power: 1 } } })).toThrow(
    expect.objectContaining({
      code: 'INVALID_CONFIG',
      details: expect.objectContaining({ path: 'a.drivers.power' }),
    }),
  );
  expect(refusal({ a: {} })).toThrow(/a\.drivers: is required/);
});

test("at enrolment the node's hardware profile, else its pool's, makes its bindings; an unknown one is INVALID_INPUT", async () => {
  const other = { drivers: { boot: 'grub' } };
  const centre = await startTestCentre({ hardwareProfiles: { 'gpu-redfish': gpuRedfish, other } });
  const { call } = centre;
  try {
    const { siteId } = await newSite(centre.directory, 'lab');
    const pool = (policy: object) =>
      call<{ poolId: string }>('pools.create', { tenantId: 'root', siteId, policy });
    const { poolId } = (await pool({ hardwareProfile: 'gpu-redfish' })).data;
    let last = 0;
    const enroll = (more: object) => {
      last++;
      const macs = [`52:54:00:00:01:0${last}`];
      return call('metal.enroll', { tenantId: 'root', siteId, poolId, nodeId: `n${last}`, macs, ...more });
    };
    expect((await enroll({ bmc })).data.drivers).toMatchObject({
      power: { driver: 'redfish', config },
      boot: { driver: 'ipxe' },
    });
    expect((await enroll({ hardwareProfile: 'other', drivers: { inspect: 'agent' } })).data).toMatchObject({
      hardwareProfile: 'other',
      drivers: { boot: { driver: 'grub' }, inspect: { driver: 'agent' } },
    });
    const unknown = (path: string) => ({
      status: 400,
      error: { code: 'INVALID_INPUT', details: { path, reason: 'hardware-profile' } },
    });
    expect(await enroll({ hardwareProfile: 'none' })).toMatchObject(unknown('hardwareProfile'));
    expect(await pool({ hardwareProfile: 'none' })).toMatchObject(unknown('policy.hardwareProfile'));
  } finally {
    await centre.close();
  }
});
