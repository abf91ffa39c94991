import Type from 'typebox';
import { expect, test } from 'vitest';
import { configUnitIssues } from '#contract/hostConfig/configUnits.ts';
import { builtinUnits } from '#contract/hostConfig/units.ts';
import { checkProfile, defineProfile, profileIssues } from '#contract/profiles.ts';

const least = { id: 'gpu', version: 1, target: 'metal' } as const;
const withUnits = (hostConfig: object) => ({ ...least, hostConfig });
const firstFault = (hostConfig: object) => profileIssues(withUnits(hostConfig))[0];

const join = {
  server: 'https://10.0.0.1:6443',
  caCertSha256: 'a'.repeat(64),
  tokenRef: 'secret://k8s/join',
};

test('the built-in units are the twelve of the specification, in its order', () => {
  expect(Object.keys(builtinUnits)).toEqual([
    'kernel-modules',
    'sysctl',
    'hugepages',
    'cpu',
    'iommu',
    'nvidia-driver',
    'fabric-manager',
    'gpu-settings',
    'mig-layout',
    'gpu-sharing',
    'container-toolkit',
    'k8s-join',
  ]);
});

test.each<[string, object]>([
  [
    'kernel-modules',
    { load: ['vfio_pci', 'br-netfilter'], options: { nvme: 'poll_queues=4 io_timeout=30' } },
  ],
  [
    'sysctl',
    { 'net.core.somaxconn': 4096, 'net/ipv4/ip_forward': true, 'net.ipv4.tcp_rmem': '4096 131072 6291456' },
  ],
  ['hugepages', { pages2m: 0, pages1g: 16, transparent: 'madvise', perNuma: true }],
  ['cpu', { governor: 'performance', isolate: '2-7,10' }],
  ['iommu', { passthrough: false }],
  ['nvidia-driver', { branch: '580', open: true }],
  ['fabric-manager', {}],
  ['gpu-settings', { powerLimitWatts: 10_000, ecc: false }],
  ['mig-layout', { from: 'pool' }],
  ['mig-layout', { layout: { '1g.10gb': 7, '1g.10gb+me': 1 } }],
  ['gpu-sharing', { mode: 'mps', replicas: 48 }],
  ['container-toolkit', { cdi: true }],
  ['k8s-join', join],
  [
    'k8s-join',
    {
      ...join,
      kubernetesVersion: '1.34.2',
      nodeLabels: { 'example.com/rack': 'r1' },
      taints: ['nvidia.com/gpu=present:NoSchedule', 'dedicated:NoExecute'],
      gpu: true,
      gpuApi: 'dra',
    },
  ],
])('the settings of %s are taken: %j', (unit, settings) => {
  expect(defineProfile(withUnits({ [unit]: settings })).hostConfig).toMatchObject({ [unit]: settings });
});

test.each<[string, object]>([
  ['kernel-modules.load[0]', { 'kernel-modules': { load: ['../x'] } }],
  ['kernel-modules.options.nvme', { 'kernel-modules': { options: { nvme: 'a=1\ninstall nvme /bin/sh' } } }],
  ['kernel-modules.options.nvme', { 'kernel-modules': { options: { nvme: 'a=1\\' } } }],
  ['hugepages.pages2m', { hugepages: { pages2m: -1 } }],
  ['hugepages.transparent', { hugepages: { transparent: 'sometimes' } }],
  ['cpu.governor', { cpu: { governor: 'turbo' } }],
  ['cpu.isolate', { cpu: { isolate: '0' } }],
  ['cpu.isolate', { cpu: { isolate: '0-3' } }],
  ['cpu.isolate', { cpu: { isolate: '4,00' } }],
  ['cpu.isolate', { cpu: { isolate: '7-2' } }],
  ['iommu.passthrough', { iommu: { passthrough: 'yes' } }],
  ['nvidia-driver.branch', { 'nvidia-driver': { branch: 580 } }],
  ['nvidia-driver.branch', { 'nvidia-driver': { branch: '5800' } }],
  ['nvidia-driver.branch', { 'nvidia-driver': {} }],
  ['fabric-manager.mode', { 'fabric-manager': { mode: 1 } }],
  ['gpu-settings.powerLimitWatts', { 'gpu-settings': { powerLimitWatts: 0 } }],
  ['gpu-settings.powerLimitWatts', { 'gpu-settings': { powerLimitWatts: 10_001 } }],
  ['mig-layout', { 'mig-layout': {} }],
  ['mig-layout.from', { 'mig-layout': { from: 'node' } }],
  ['mig-layout.layout', { 'mig-layout': { from: 'pool', layout: { '1g.10gb': 7 } } }],
  ['gpu-sharing.mode', { 'gpu-sharing': { mode: 'vgpu' } }],
  ['gpu-sharing.replicas', { 'gpu-sharing': { mode: 'mps', replicas: 0 } }],
  ['gpu-sharing.replicas', { 'gpu-sharing': { mode: 'mps', replicas: 49 } }],
  ['container-toolkit.cdi', { 'container-toolkit': { cdi: 1 } }],
  ['k8s-join.tokenRef', { 'k8s-join': { ...join, tokenRef: 'abcdef.0123456789abcdef' } }],
  ['k8s-join.gpuApi', { 'k8s-join': { ...join, gpuApi: 'cdi' } }],
  ['k8s-join.caCertSha256', { 'k8s-join': { ...join, caCertSha256: 'x' } }],
  ['Sysctl', { Sysctl: {} }],
])('hostConfig.%s is refused: %j', (path, hostConfig) => {
  expect(firstFault(hostConfig)?.path).toBe(`hostConfig.${path}`);
});

test.each([...Object.keys(builtinUnits), 'added-unit'])('%s takes when, a label expression', (unit) => {
  const needed: Record<string, object> = {
    'nvidia-driver': { branch: '580' },
    'mig-layout': { from: 'pool' },
    'gpu-sharing': { mode: 'mps' },
    'k8s-join': join,
  };
  const settings = { ...needed[unit], when: 'gpu == nvidia && nvswitch' };
  expect(profileIssues(withUnits({ [unit]: settings }))).toEqual([]);
  const broken = { ...settings, when: 'gpu ==' };
  expect(firstFault({ [unit]: broken })?.path).toBe(`hostConfig.${unit}.when`);
});

test('through the API what is wrong with a unit is INVALID_INPUT, in a module INVALID_CONFIG', () => {
  const wrong = withUnits({ iommu: { passthrough: 1 } });
  const details = { path: 'hostConfig.iommu.passthrough' };
  expect(() => checkProfile(wrong, 'INVALID_INPUT')).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: expect.objectContaining(details) }),
  );
  expect(() => defineProfile(wrong)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', details: expect.objectContaining(details) }),
  );
});

test('a unit that was added is checked by its schema; one that nobody added is refused', () => {
  const added = [
    { name: 'motd', settings: Type.Object({ text: Type.String() }, { additionalProperties: false }) },
  ];
  const paths = (units: object) => configUnitIssues(units as never, added).map(({ path }) => path);
  expect(paths({ motd: { text: 'hello', when: 'gpu' }, sysctl: {} })).toEqual([]);
  expect(paths({ motd: { text: 5 } })).toEqual(['hostConfig.motd.text']);
  expect(paths({ motd: { text: 'x', when: '(' } })).toEqual(['hostConfig.motd.when']);
  expect(paths({ ntp: {} })).toEqual(['hostConfig.ntp']);
});
