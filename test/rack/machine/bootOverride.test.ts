import { expect, test } from 'vitest';
import { afterBoot, bootOrder, noOverride } from '#rack/machine/bootOverride.ts';

test.each([
  ['None', 'Disabled', ['disk0', 'disk1', 'nic0']],
  ['Pxe', 'Disabled', ['disk0', 'disk1', 'nic0']],
  ['Hdd', 'Once', ['disk0', 'disk1', 'nic0']],
  ['Pxe', 'Once', ['nic0', 'disk0', 'disk1']],
  ['Pxe', 'Continuous', ['nic0', 'disk0', 'disk1']],
  ['UefiHttp', 'Once', ['nic0', 'disk0', 'disk1']],
  ['Cd', 'Once', ['cd0', 'disk0', 'disk1', 'nic0']],
] as const)('%s %s boots %j', (target, enabled, order) => {
  expect(bootOrder({ target, enabled }, 2)).toEqual(order);
});

test('a machine without disks boots over the network', () => {
  expect(bootOrder(noOverride, 0)).toEqual(['nic0']);
});

test('a boot uses up an override that holds once, and no other', () => {
  expect(afterBoot({ target: 'Pxe', enabled: 'Once' })).toEqual(noOverride);
  expect(afterBoot({ target: 'Pxe', enabled: 'Continuous' })).toEqual({
    target: 'Pxe',
    enabled: 'Continuous',
  });
});
