import { expect, test } from 'vitest';
import { desiredUnits, type HostConfigSources } from '#contract/hostConfig/desired.ts';
import { builtinUnits } from '#contract/hostConfig/units.ts';

const units = (sources: Partial<HostConfigSources>) =>
  desiredUnits({ profile: {}, policy: {}, labels: {}, ...sources });

test('units come in the order of their application, whatever the order of the profile', () => {
  const names = Object.keys(builtinUnits);
  const profile = Object.fromEntries(names.toReversed().map((name) => [name, {}]));
  expect(
    units({ profile: { zebra: {}, added: {}, ...profile } as never, configUnits: [{ name: 'added' }] }).map(
      ({ unit }) => unit,
    ),
  ).toEqual([...names, 'added', 'zebra']);
});

test('a unit whose when does not hold for the machine is left out, and when is not told', () => {
  const profile = { 'fabric-manager': { when: 'nvswitch' }, iommu: { when: '!nvswitch' } };
  expect(units({ profile, labels: { nvswitch: 'true' } })).toEqual([
    { unit: 'fabric-manager', settings: {} },
  ]);
  expect(units({ profile, labels: {} })).toEqual([{ unit: 'iommu', settings: { passthrough: true } }]);
});

test("a pool's unit replaces the profile's as a whole", () => {
  const profile = {
    hugepages: { pages2m: 8, transparent: 'never' as const },
    cpu: { governor: 'powersave' as const },
  };
  expect(units({ profile, policy: { hugepages: { pages1g: 4 } } })).toEqual([
    { unit: 'hugepages', settings: { pages1g: 4 } },
    { unit: 'cpu', settings: { governor: 'powersave' } },
  ]);
});

test('every unit field of the policy is its unit', () => {
  const join = { server: 'https://k:6443', caCertSha256: 'a'.repeat(64), tokenRef: 'secret://k' };
  const policy = {
    hugepages: { pages2m: 1 },
    kernelModules: { load: ['vfio'] },
    cpu: { isolate: '1' },
    iommu: {},
    gpu: { ecc: true },
    kubernetes: join,
    gpuSharing: { mode: 'timeslice' as const, replicas: 4 },
  };
  expect(units({ policy }).map(({ unit }) => unit)).toEqual([
    'kernel-modules',
    'hugepages',
    'cpu',
    'iommu',
    'gpu-settings',
    'gpu-sharing',
    'k8s-join',
  ]);
});

test("mig-layout from the pool takes the pool's policy.migLayout", () => {
  const profile = { 'mig-layout': { from: 'pool' as const } };
  expect(units({ profile, policy: { migLayout: { '1g.10gb': 7 } } })).toEqual([
    { unit: 'mig-layout', settings: { layout: { '1g.10gb': 7 } } },
  ]);
  expect(units({ profile })).toEqual([{ unit: 'mig-layout', settings: { layout: {} } }]);
});

test('iommu.passthrough and container-toolkit.cdi are true unless said otherwise', () => {
  expect(units({ profile: { iommu: {}, 'container-toolkit': { cdi: false } } })).toEqual([
    { unit: 'iommu', settings: { passthrough: true } },
    { unit: 'container-toolkit', settings: { cdi: false } },
  ]);
});
