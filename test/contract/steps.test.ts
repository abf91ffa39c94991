import { expect, test } from 'vitest';
import { withDefaults } from '#contract/defaults.ts';
import { findIssues } from '#contract/findIssues.ts';
import { type StepName, steps } from '#contract/steps.ts';

/** The table of steps: where it runs, its time-out, inputs that it takes, inputs that it refuses. */
const table: Record<StepName, [runs: string, timeout: string, good: object[], bad: object[]]> = {
  'power.getPower': ['site', '2m', [{}], [{ action: 'on' }]],
  'power.setPower': [
    'site',
    '5m',
    ['on', 'off', 'graceful-off', 'reset', 'graceful-restart', 'cycle', 'nmi'].map((action) => ({ action })),
    [{}, { action: 'fly' }],
  ],
  'management.setBootDevice': [
    'site',
    '2m',
    [...['pxe', 'http', 'disk', 'cd'].map((device) => ({ device })), { device: 'pxe', persistent: true }],
    [{}, { device: 'usb' }, { device: 'cd', persistent: 'yes' }],
  ],
  'inspect.oob': ['site', '5m', [{}], [{ deep: true }]],
  'media.insert': [
    'site',
    '30m',
    [{ url: 'https://a/b.iso' }, { fromStep: 'a.b' }, { image: 'a@1' }],
    [{}, { url: 'http://a/b.iso' }, { url: 'https://a/b.iso', image: 'a@1' }],
  ],
  'media.eject': ['site', '5m', [{}], [{ url: '' }]],
  'bmc.rotatePassword': ['site', '5m', [{}], [{ password: 'chosen' }]],
  'boot.prepareRamdisk': ['site', '2m', [{}], [{ image: 'a@1' }]],
  'boot.cleanUp': ['site', '2m', [{}], [{ image: 'a@1' }]],
  'metal.ensureRamdisk': ['central', '20m', [{}], [{ image: 'a@1' }]],
  'metal.revokeIdentity': ['central', '2m', [{}], [{ why: '' }]],
  'inventory.refresh': ['ramdisk-or-node', '10m', [{}], [{ sections: [] }]],
  'diag.dcgm': ['ramdisk-or-node', '1h', [{}, { level: 1 }, { level: 4 }], [{ level: 0 }, { level: 5 }]],
  'disk.wipe': [
    'ramdisk',
    '6h',
    ['none', 'quick', 'secure-erase', 'crypto-erase'].map((mode) => ({ mode })),
    [{}, { mode: 'shred' }],
  ],
  'deploy.deploy': ['ramdisk', '1h', [{}, { image: 'a@1' }], [{ image: 5 }]],
  'boot.kexec': ['ramdisk', '15m', [{}], [{ kernel: '' }]],
  'userdata.render': ['central', '2m', [{}], [{ template: '' }]],
  'wait.agentJoined': [
    'central',
    '15m',
    ['node', 'ramdisk', 'site'].map((role) => ({ role })),
    [{}, { role: 'vps' }],
  ],
  'wait.generationObserved': ['central', '10m', [{}], [{ generation: 1 }]],
  'driver.invoke': [
    'site',
    '10m',
    [
      { concern: 'power', operation: 'getPower' },
      { concern: 'power', operation: 'setPower', input: { action: 'on' } },
    ],
    [{}, { concern: 'power' }, { concern: 'Power', operation: 'getPower' }],
  ],
};

test.each(Object.entries(table))(
  '%s runs, takes and lasts as the table says',
  (name, [runs, timeout, good, bad]) => {
    const step = steps[name as StepName];
    expect(step).toMatchObject({ runs, timeout });
    expect('await' in step ? step.await : undefined).toBe(name === 'boot.kexec' ? 'rejoin' : undefined);
    const issues = (input: object) => findIssues(step.input, withDefaults(step.input, input));
    for (const input of good) expect(issues(input)).toEqual([]);
    for (const input of bad) expect(issues(input)).not.toEqual([]);
  },
);

test('there is no other step than those of the table, driver.invoke and metal.revokeIdentity', () => {
  expect(Object.keys(steps).toSorted()).toEqual(Object.keys(table).toSorted());
});

test('diag.dcgm tests at level 1 unless told otherwise', () => {
  expect(withDefaults(steps['diag.dcgm'].input, {})).toEqual({ level: 1 });
});
