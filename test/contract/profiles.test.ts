import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { RailheadError } from '#contract/errors.ts';
import { defineProfile, profileIssues } from '#contract/profiles.ts';

/** The GPU host profile of the documentation, word for word. */
const gpuHost = {
  id: 'ubuntu-24.04-gpu-host',
  version: 1,
  target: 'metal',
  role: 'host',
  image: { ref: 'ubuntu-24.04-server@2026.09', format: 'raw', compression: 'zstd' },
  userData: { kind: 'cloud-init', template: 'bcd-host.yaml.hbs' },
  hostConfig: { 'nvidia-driver': { branch: '580' }, 'fabric-manager': { when: 'nvswitch' } },
  steps: [
    { use: 'userdata.render' },
    { use: 'boot.prepareRamdisk', on: 'site' },
    { use: 'management.setBootDevice', on: 'site', with: { device: 'pxe' } },
    { use: 'power.setPower', on: 'site', with: { action: 'cycle' } },
    { use: 'wait.agentJoined', with: { role: 'ramdisk' } },
    { use: 'deploy.deploy', on: 'ramdisk', timeout: '30m' },
    { use: 'management.setBootDevice', on: 'site', with: { device: 'disk' } },
    { use: 'boot.kexec', on: 'ramdisk', await: 'rejoin', timeout: '15m' },
  ],
  acceptance: [{ use: 'diag.dcgm', with: { level: 1 } }],
  cleanup: [{ use: 'boot.cleanUp', on: 'site' }],
};
const least = { id: 'p', version: 1, target: 'metal' };

function refusal(document: unknown): RailheadError {
  try {
    defineProfile(document);
  } catch (error) {
    if (error instanceof RailheadError) return error;
  }
  throw new Error('the document was not refused');
}

test('the documented GPU host profile is taken as it stands', () => {
  expect(defineProfile(gpuHost)).toEqual(gpuHost);
});

test('the result is a copy, deeply frozen', () => {
  const document = structuredClone(gpuHost);
  const profile = defineProfile(document);
  document.steps.pop();
  expect(profile.steps).toHaveLength(8);
  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  expect(isFrozen(profile)).toBe(true);
});

test('role is host by default, on metal alone', () => {
  expect(defineProfile(least)).toEqual({ ...least, role: 'host' });
  expect(defineProfile({ ...least, target: 'vps' })).toEqual({ ...least, target: 'vps' });
});

/** A list of one step whose fallback has one, and so on: `depth` steps in all. */
function nested(depth: number): object[] {
  return depth === 1 ? [{ use: 'a.b' }] : [{ use: 'a.b', fallback: nested(depth - 1) }];
}

test('256 steps of a phase are taken, those of fallbacks counted', () => {
  const [fallback, list] = [Array(55).fill({ use: 'a.b' }), Array(200).fill({ use: 'a.b' })];
  const full = { ...least, steps: list, acceptance: [{ use: 'a.b', fallback }] };
  expect(defineProfile({ ...full, cleanup: [...list, ...fallback] }).steps).toHaveLength(200);
});

test('a fallback that leads back to itself is refused, not followed', () => {
  const step: Record<string, unknown> = { use: 'a.b' };
  step.fallback = [step];
  expect(refusal({ ...least, steps: [step] }).details.path).toBe('steps[0].fallback[0]');
});

test.each<[string, object]>([
  ['id', { id: 'Upper' }],
  ['id', { id: 'a'.repeat(129) }],
  ['id', { id: 'with space' }],
  ['id', { id: undefined }],
  ['version', { version: 0 }],
  ['version', { version: 1.5 }],
  ['version', { version: '1' }],
  ['target', { target: 'moon' }],
  ['description', { description: 'x'.repeat(1025) }],
  ['role', { role: 'guest' }],
  ['entry', { entry: 'rescue' }],
  ['drivers.power', { drivers: { power: 5 } }],
  ['drivers.power.driver', { drivers: { power: {} } }],
  ['drivers.power.extra', { drivers: { power: { driver: 'redfish', extra: 1 } } }],
  ['drivers.Power', { drivers: { Power: 'redfish' } }],
  ['image.ref', { image: { ref: 'no-version' } }],
  ['image.ref', { image: {} }],
  ['image.format', { image: { ref: 'a@1', format: 'vhd' } }],
  ['image.compression', { image: { ref: 'a@1', compression: 'xz' } }],
  ['userData.kind', { userData: { kind: 'shell', template: 't' } }],
  ['userData.template', { userData: { kind: 'talos' } }],
  ['hostConfig.sysctl', { hostConfig: { sysctl: 5 } }],
  ['steps', { steps: {} }],
  ['steps', { steps: Array(257).fill({ use: 'power.getPower' }) }],
  ['steps', { steps: [{ use: 'a.b', fallback: Array(256).fill({ use: 'a.b' }) }] }],
  ['steps', { steps: [...nested(20), ...Array(237).fill({ use: 'a.b' })] }],
  ['acceptance', { steps: Array(200).fill({ use: 'a.b' }), acceptance: Array(57).fill({ use: 'a.b' }) }],
  ['cleanup', { cleanup: Array(13).fill(nested(20)).flat() }],
  ['steps[0]', { steps: ['power.getPower'] }],
  ['steps[0].use', { steps: [{}] }],
  ['steps[0].use', { steps: [{ use: 'no dots' }] }],
  ['steps[1].on', { steps: [{ use: 'power.getPower' }, { use: 'power.getPower', on: 'moon' }] }],
  ['steps[0].with', { steps: [{ use: 'power.getPower', with: [] }] }],
  ['steps[2].timeout', { steps: [{ use: 'a.b' }, { use: 'a.b' }, { use: 'a.b', timeout: 'soon' }] }],
  ...[
    '0s',
    '05m',
    '1d',
    '1.5h',
    ' 1s',
    '1s ',
    '10',
    '100000h',
    '10000000m',
    '1000000000s',
    '1000000000000ms',
  ].map((timeout) => ['steps[0].timeout', { steps: [{ use: 'a.b', timeout }] }] as [string, object]),
  ['steps[0].retries', { steps: [{ use: 'a.b', retries: 11 }] }],
  ['steps[0].retries', { steps: [{ use: 'a.b', retries: -1 }] }],
  ['steps[0].await', { steps: [{ use: 'a.b', await: 'reboot' }] }],
  ['steps[0].onFailure', { steps: [{ use: 'a.b', onFailure: 'retry' }] }],
  ['steps[0].onFailure', { steps: [{ use: 'a.b', onFailure: 'fallback' }] }],
  ['steps[0].fallback', { steps: [{ use: 'a.b', onFailure: 'continue', fallback: [{ use: 'a.b' }] }] }],
  ['steps[0].fallback', { steps: [{ use: 'a.b', fallback: [] }] }],
  [
    'steps[0].fallback[0].fallback[1].timeout',
    {
      steps: [
        { use: 'a.b', fallback: [{ use: 'a.b', fallback: [{ use: 'a.b' }, { use: 'a.b', timeout: 1 }] }] },
      ],
    },
  ],
  ['steps[0].when', { steps: [{ use: 'a.b', when: '(' }] }],
  ['steps[0].colour', { steps: [{ use: 'a.b', colour: 'red' }] }],
  ['acceptance[0].use', { acceptance: [{ use: 1 }] }],
  ['cleanup[0].use', { cleanup: [{ use: 1 }] }],
  ['colour', { colour: 'red' }],
])('%s is named as the first offending field', (path, change) => {
  const error = refusal({ ...least, ...change });
  expect(error.code).toBe('INVALID_CONFIG');
  expect(error.details.path).toBe(path);
  expect(error.message.startsWith(`${path}: `)).toBe(true);
});

test.each(['120ms', '120s', '120m', '120h', '99999h'])('a duration of %s is taken', (timeout) => {
  expect(defineProfile({ ...least, steps: [{ use: 'a.b', timeout }] }).steps?.[0]?.timeout).toBe(timeout);
});

test('faults are named in the order of the type table, then unknown fields, arrays by index', () => {
  const document = {
    zebra: 1,
    apple: 1,
    cleanup: [{ use: 1 }],
    steps: [
      { zebra: 1, when: '(', timeout: 'x', use: 1 },
      { use: 'a.b', on: 'x' },
    ],
    hostConfig: 1,
    userData: 1,
    image: { b: 1, compression: 'x', ref: 1 },
    drivers: 1,
    entry: 'x',
    role: 'x',
    description: 1,
    target: 'x',
    version: 'x',
  };
  expect(profileIssues(document).map(({ path }) => path)).toEqual([
    'id',
    'version',
    'target',
    'description',
    'role',
    'entry',
    'drivers',
    'image.ref',
    'image.compression',
    'image.b',
    'userData',
    'hostConfig',
    'steps[0].use',
    'steps[0].timeout',
    'steps[0].when',
    'steps[0].zebra',
    'steps[1].on',
    'cleanup[0].use',
    'zebra',
    'apple',
  ]);
});

test('metal fields are refused on vps profiles', () => {
  for (const field of ['role', 'entry', 'drivers', 'hostConfig'] as const) {
    const value = { role: 'host', entry: 'deploy', drivers: {}, hostConfig: {} }[field];
    expect(refusal({ ...least, target: 'vps', [field]: value }).details).toMatchObject({
      path: field,
      expected: 'is for metal profiles only',
    });
  }
});

test('a profile that adopts carries neither image nor userData nor steps', () => {
  const adopt = { ...least, entry: 'adopt' };
  expect(defineProfile({ ...adopt, acceptance: [{ use: 'diag.dcgm' }] })).toMatchObject({ entry: 'adopt' });
  expect(refusal({ ...adopt, image: { ref: 'a@1' } }).details.path).toBe('image');
  expect(refusal({ ...adopt, userData: { kind: 'talos', template: 't' } }).details.path).toBe('userData');
  expect(refusal({ ...adopt, steps: [] }).details.path).toBe('steps');
});

const cycle: Record<string, unknown> = {};
cycle.self = cycle;
// biome-ignore lint/suspicious/noSparseArray: that is the point
const sparse = [1, , 3];
test.each<[string, object]>([
  ['steps[0].with.x', { x: undefined }],
  ['steps[0].with.x', { x: () => 1 }],
  ['steps[0].with.x', { x: new Date(0) }],
  ['steps[0].with.x', { x: Number.NaN }],
  ['steps[0].with.x', { x: Number.POSITIVE_INFINITY }],
  ['steps[0].with.x', { x: 1n }],
  ['steps[0].with.x', { x: Symbol('s') }],
  ['steps[0].with.x', { x: new Map() }],
  ['steps[0].with.x', { x: Buffer.from('a') }],
  ['steps[0].with.x', { x: sparse }],
  ['steps[0].with.x[1].y', { x: [1, { y: undefined }] }],
  ['steps[0].with.x.self', { x: cycle }],
  ['steps[0].with.Symbol(s)', { [Symbol('s')]: 1 }],
])('what JSON cannot write is refused, naming %s', (path, input) => {
  expect(refusal({ ...least, steps: [{ use: 'a.b', with: input }] }).details.path).toBe(path);
});

test('a getter is refused unread', () => {
  let isRead = false;
  const read = () => {
    isRead = true;
  };
  const input = Object.defineProperty({}, 'late', { enumerable: true, get: read });
  expect(refusal({ ...least, steps: [{ use: 'a.b', with: input }] }).details.path).toBe('steps[0].with.late');
  expect(refusal(Object.defineProperty({ ...least }, 'description', { get: read })).details.path).toBe(
    'description',
  );
  expect(isRead).toBe(false);
});

const fail = () => {
  throw new Error('this code must not run');
};
/** An object whose field `key` is computed when read. */
const computed = (key: string, fields: object = {}) =>
  Object.defineProperty({ ...fields }, key, { enumerable: true, get: fail });
const traps = new Proxy({}, { get: () => fail });
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const odd = Object.create(computed('constructor'));
test.each<[string, () => unknown]>([
  ['target', () => computed('target', { id: 'p', version: 1 })],
  ['entry', () => computed('entry', least)],
  ['steps[0].onFailure', () => ({ ...least, steps: [computed('onFailure', { use: 'a.b', fallback: [] })] })],
  ['steps[0].fallback', () => ({ ...least, steps: [computed('fallback', { use: 'a.b' })] })],
  ['steps[0].when', () => ({ ...least, steps: [computed('when', { use: 'a.b' })] })],
  ['steps[0]', () => ({ ...least, steps: Object.defineProperty([], 0, { enumerable: true, get: fail }) })],
  ['hostConfig.iommu.when', () => ({ ...least, hostConfig: { iommu: computed('when') } })],
  ['hostConfig.sysctl.a.b', () => ({ ...least, hostConfig: { sysctl: computed('a.b') } })],
  ['hostConfig.mig-layout', () => ({ ...least, hostConfig: { 'mig-layout': new Proxy({}, traps) } })],
  ['', () => new Proxy({ ...least }, traps)],
  ['', () => new Proxy({ ...least }, {})],
  ['', () => Object.create(new Proxy({}, traps))],
  ['steps[0]', () => ({ ...least, steps: [revoked()] })],
  ['steps[0].with', () => ({ ...least, steps: [{ use: 'a.b', with: odd }] })],
  ['steps[0].with.level', () => ({ ...least, steps: [{ use: 'a.b', with: hidden() }] })],
  ['steps', () => ({ ...least, steps: Object.assign([], { [Symbol('s')]: 1 }) })],
  [
    'steps[0].onFailure',
    () => ({ ...least, steps: [{ use: 'a.b', onFailure: { toString: 1 }, fallback: [{ use: 'a.b' }] }] }),
  ],
  [
    'hostConfig.sysctl.kernel.core_pattern',
    () => ({ ...least, hostConfig: { sysctl: { 'kernel.core_pattern': { toString: 1 } } } }),
  ],
])('no code of the document runs while %s is refused: case %#', (path, document) => {
  expect(refusal(document()).details.path).toBe(path);
});

/** A setting that JSON would drop. */
function hidden(): object {
  return Object.defineProperty({}, 'level', { value: 3, enumerable: false });
}

test('an object of another realm is as good as one of this', () => {
  const document = runInNewContext('({ ...least, steps: [{ use: "a.b", with: { x: [{}] } }] })', { least });
  expect(defineProfile(document)).toMatchObject({ steps: [{ with: { x: [{}] } }] });
});

test('an optional field that is undefined, and an object of a class, are refused', () => {
  expect(refusal({ ...least, description: undefined }).details.path).toBe('description');
  expect(refusal(Object.assign(Object.create({ id: 'p' }), least)).details.path).toBe('');
});

test('a document that nests without end is refused, not followed', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(refusal({ ...least, steps: [{ use: 'a.b', with: { deep } }] }).message).toContain(
    'nested deeper than 64 levels',
  );
});

test.each([[null], [1], ['text'], [[]], [new Date(0)]])('%j is no profile', (document) => {
  expect(refusal(document).details.path).toBe('');
});
